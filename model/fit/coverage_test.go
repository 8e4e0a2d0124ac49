package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/tooltest"
)

// coverage fits a machine of two racks to random patterns with 3 % noise and
// returns how many of its held-out transfers lie in their 90 % interval, and how many have one.
func coverage(t testing.TB, seed uint64, perRack, patterns int) (inside, total int) {
	r := rand.New(rand.NewPCG(seed, 21))
	truth, seen := fitTruth(t, r, perRack, &model.Settings{
		Law: model.Law{Coupling: r.Float64(), RTTBias: 0.6 * r.Float64()},
	})
	fit, err := Network(seen, observe(t, truth, r, 0.03, fitPatterns(r, 2*perRack, patterns)), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fit.Network.NewPredictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	var held [][]model.Transfer
	for k := range 40 {
		held = append(held, model.RandomPattern(r, 2*perRack, 1+k%3, 20e6))
	}
	for _, o := range observe(t, truth, r, 0.03, held) {
		got, err := p.Prediction(o.Transfers, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		for i, interval := range got.Interval {
			if total++; interval[0] <= o.Seconds[i] && o.Seconds[i] <= interval[1] {
				inside++
			}
		}
	}
	return inside, total
}

// Of machines that are drawn, 90 % intervals hold 86 to 94 % of the transfers that the fit has not seen. Fewer than ten
// patterns give none. BenchmarkFitCoverage has many machines.
func TestIntervalsCoverHeldOutTransfers(t *testing.T) {
	for _, c := range []struct {
		patterns, machines int
		given              bool
	}{{5, 8, false}, {12, 32, true}, {30, 4, true}} {
		inside, total := 0, 0
		for seed := range uint64(c.machines) {
			in, of := coverage(t, seed, 2, c.patterns)
			inside, total = inside+in, total+of
		}
		if share := float64(inside) / float64(total); total > 0 && (share < 0.86 || share > 0.94) {
			t.Errorf("%d patterns: %.3f of %d held-out transfers in the 90 %% interval, want 0.86 to 0.94", c.patterns, share, total)
		}
		if (total > 0) != c.given {
			t.Errorf("%d patterns: %d transfers have an interval, want them: %v", c.patterns, total, c.given)
		}
		t.Logf("%d patterns: %d of %d", c.patterns, inside, total)
	}
}

// Messages inside hosts take up to twice as long as predicted, those between hosts are off by 3 %: each has its own
// intervals. Where too few are known of a level, those of all stand for it.
func TestIntervalsByLevel(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("long: fits some hundreds of transfers")
	}
	truth, seen := hostsOfTwo(t)
	r := rand.New(rand.NewPCG(3, 23))
	observed := func(patterns int) []Observation {
		var all [][]model.Transfer
		for k := range patterns {
			p := model.RandomPattern(r, 16, 1+k%3, 500e3)
			for host := range 8 {
				p = append(p, model.Transfer{Src: 2*host + k%2, Dst: 2*host + 1 - k%2, Bytes: 500e3})
			}
			all = append(all, p)
		}
		out := observe(t, truth, r, 0.03, all)
		for _, o := range out {
			for i := range o.Seconds {
				if truth.LevelOf(o.Transfers[i].Src, o.Transfers[i].Dst) == 0 {
					o.Seconds[i] *= 1 + r.Float64()
				}
			}
		}
		return out
	}
	fit, err := Network(seen, observed(30), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fit.Network.NewPredictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	inside, total := make([]float64, 3), make([]float64, 3)
	for _, o := range observed(40) {
		got, err := p.Prediction(o.Transfers, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range o.Seconds {
			level := truth.LevelOf(o.Transfers[i].Src, o.Transfers[i].Dst)
			if total[level]++; got.Interval[i][0] <= x && x <= got.Interval[i][1] {
				inside[level]++
			}
		}
	}
	for level := range total {
		if share := inside[level] / total[level]; share < 0.85 || share > 0.95 {
			t.Errorf("level %d: %.3f of %g held-out transfers in the 90 %% interval, want 0.85 to 0.95", level, share, total[level])
		}
	}

	inHosts := 0 // of ten patterns, fewer than the 39 that have quantiles of 2.5 %
	few := observed(10)
	for i := range few {
		o := &few[i]
		for k := len(o.Seconds) - 1; k >= 0; k-- {
			switch inside := truth.LevelOf(o.Transfers[k].Src, o.Transfers[k].Dst) == 0; {
			case inside && i >= 3:
				o.Transfers, o.Seconds = slices.Delete(o.Transfers, k, k+1), slices.Delete(o.Seconds, k, k+1)
			case inside:
				inHosts++
			}
		}
	}
	if fit, err = Network(seen, few, nil); err != nil {
		t.Fatal(err)
	}
	if ratios := fit.Network.Levels()[0].MeasuredOverPredicted; ratios != nil {
		t.Errorf("ratios of %d messages inside hosts: %v, want none", inHosts, ratios)
	}
}

// A fit that misses what it has not seen is said to, with the interval, and the network keeps it; one that is off by a little noise
// is not. Of times that are off by a factor of e^±0.5 N(0,1), 90 % are within e^±0.82.
func TestFitThatMissesIsWarnedOf(t *testing.T) {
	for _, noise := range []float64{0.03, 0.5} {
		r := rand.New(rand.NewPCG(7, 22))
		truth, seen := fitTruth(t, r, 3, &model.Settings{})
		observed := observe(t, truth, r, 0, fitPatterns(r, 6, 20))
		for _, o := range observed {
			for i := range o.Seconds {
				o.Seconds[i] *= math.Exp(noise * r.NormFloat64())
			}
		}
		fit, err := Network(seen, observed, nil)
		if err != nil {
			t.Fatal(err)
		}
		var lo, hi float64
		for _, w := range fit.Network.Warnings() {
			if _, rest, found := strings.Cut(w, "of ten, nine took "); found {
				if _, err := fmt.Sscanf(rest, "%f to %f times", &lo, &hi); err != nil {
					t.Fatalf("%q: %v", w, err)
				}
			}
		}
		if (lo > 0) != (noise > 0.1) || lo > 0 && (lo > 0.6 || lo < 0.2 || hi < 1.7 || hi > 5) {
			t.Errorf("noise of %g: warned of %g to %g; warnings %q", noise, lo, hi, fit.Network.Warnings())
		}
	}
}

// BenchmarkFitCoverage reports the mean, least and greatest share of held-out
// transfers in the 90 % interval over 40 machines, by the number of patterns.
func BenchmarkFitCoverage(b *testing.B) {
	for _, c := range []struct{ perRack, patterns int }{{3, 8}, {4, 20}, {4, 30}, {5, 60}} {
		b.Run(fmt.Sprintf("hosts=%d/patterns=%d", 2*c.perRack, c.patterns), func(b *testing.B) {
			for b.Loop() {
				const seeds = 40
				least, most, sum, kept := 1.0, 0.0, 0.0, 0
				for seed := range uint64(seeds) {
					inside, total := coverage(b, seed, c.perRack, c.patterns)
					share := float64(inside) / float64(total)
					least, most, sum = min(least, share), max(most, share), sum+share
					if share >= 0.85 && share <= 0.95 {
						kept++
					}
				}
				b.ReportMetric(sum/seeds, "mean")
				b.ReportMetric(least, "least")
				b.ReportMetric(most, "greatest")
				b.ReportMetric(float64(kept)/seeds, "in_85_to_95")
			}
		})
	}
}

// Where times are medians of many, intervals hold single times. Medians without noise of single times that scatter by 2 % leave
// residuals of 0; the 5 and 95 % quantiles of a normal distribution are 1.645 standard deviations away.
func TestIntervalsAreOfSingleTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 22))
	truth, seen := fitTruth(t, r, 3, &model.Settings{})
	observed := observe(t, truth, r, 0, fitPatterns(r, 6, 20))
	for i := range observed {
		observed[i].Deviations = slices.Repeat([]float64{0.02}, len(observed[i].Transfers))
	}
	fit, err := Network(seen, observed, nil)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := fit.Network.Interval(0, 4, 1, 0.9)
	if want := 1.645 * 0.02; math.Abs(math.Log(hi)/want-1) > 0.2 || math.Abs(math.Log(lo)/-want-1) > 0.2 {
		t.Errorf("90 %% interval of 1 s is %g to %g s, want e^-%.3f to e^%.3f", lo, hi, want, want)
	}
}
