package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A site makes runs of pairs with noise, whose truth is known.
type site struct {
	pairs    [][2]string
	runs     int
	once     bool // one way of each pair is read, not both
	noise    func(*rand.Rand) float64
	drift    float64 // whole runs are slower by up to this share
	missing  float64 // share of pairs that a run lacks
	lostHost int     // is in no run from a third of them on; -1: none
	step     float64 // of one pair from a run on
	from     int
}

func (s *site) make(seed uint64) (runs []Run, stepped int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	base := make([]float64, len(s.pairs))
	for i := range base {
		base[i] = 5e-6 * (1 + 3*rng.Float64())
	}
	stepped = rng.IntN(len(s.pairs))
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for t := range s.runs {
		run := Run{Date: start.AddDate(0, 0, t)}
		whole := 1 + s.drift*rng.Float64()
		for i, p := range s.pairs {
			x := base[i] * whole
			if i == stepped && t >= s.from {
				x *= 1 + s.step
			}
			if lost := fmt.Sprintf("n%d", s.lostHost); s.lostHost >= 0 && t > s.runs/3 && (p[0] == lost || p[1] == lost) || rng.Float64() < s.missing {
				continue
			}
			run.Points = append(run.Points, Point{PointLatency, p[0], p[1], x * math.Exp(s.noise(rng))})
			if !s.once {
				run.Points = append(run.Points, Point{PointLatency, p[1], p[0], x * math.Exp(s.noise(rng))})
			}
		}
		runs = append(runs, run)
	}
	return runs, stepped
}

// disjoint pairs have series of their own and no hosts'.
func disjointPairs(n int) [][2]string {
	var all [][2]string
	for i := range n {
		all = append(all, [2]string{fmt.Sprintf("n%d", 2*i), fmt.Sprintf("n%d", 2*i+1)})
	}
	return all
}

func normal(sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return sigma * r.NormFloat64() }
}

// gross is normal but for a share of readings that take 1.5 to 10 times as long.
func gross(sigma, share float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return math.Log(1.5 + 8.5*r.Float64())
		}
		return sigma * r.NormFloat64()
	}
}

// student is the t distribution of 4 degrees of freedom, of the given interquartile sigma.
func student(sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		chi := 0.0
		for range 4 {
			x := r.NormFloat64()
			chi += x * x
		}
		return sigma * r.NormFloat64() / math.Sqrt(chi/4) * 0.91
	}
}

// latencyOf is what a site's series is called.
func latencyOf(p [2]string) string { return "latency " + p[0] + " - " + p[1] }

// found tells within how many samples a step was told, 0 if not, and how many alarms were false of
// how many samples.
func (s *site) found(t testing.TB, seed uint64) (within, false_, samples int) {
	t.Helper()
	runs, stepped := s.make(seed)
	r, err := Watch(runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Changes {
		if s.step > 0 && c.Name == latencyOf(s.pairs[stepped]) && c.Run >= s.from {
			if within == 0 && c.Factor > 1 {
				within = c.Run - s.from + 1
			}
			continue
		}
		false_++
	}
	return within, false_, r.Samples
}

type watchCase struct {
	name  string
	s     site
	want  float64 // of 100 steps, how many within three samples
	alarm float64 // false ones of 1,000 samples, at most
}

// What can be had (Neyman, Pearson 1933): three samples with a step of ln 1.05 / 0.02 = 2.44 sigma, against a
// level from 24, are a sum that is 2.44 sqrt(3/(1+3/24)) = 3.98 sigma away, and at a false alarm in
// 1,000 the best test finds Phi(3.98 - 3.09) = 81 % of them; with both ways read, and so half the variance,
// 99.4 %.
func watchCases() []watchCase {
	return []watchCase{
		{"both ways", site{noise: normal(0.02)}, 97, 1},
		{"one reading", site{noise: normal(0.02), once: true}, 65, 1},
		{"drift of runs", site{noise: normal(0.02), drift: 0.3}, 97, 1},
		{"missing", site{noise: normal(0.02), missing: 0.1}, 90, 1},
		{"outliers", site{noise: gross(0.02, 0.02)}, 90, 1},
		{"heavy tails", site{noise: student(0.02)}, 80, 1},
	}
}

func BenchmarkWatch(b *testing.B) {
	for _, c := range watchCases() {
		b.Run(c.name, func(b *testing.B) {
			const seeds = 100
			s := c.s
			s.pairs, s.runs, s.from, s.step, s.lostHost = disjointPairs(200), 30, 24, 0.05, -1
			hit, alarms, samples := 0, 0, 0
			for b.Loop() {
				hit, alarms, samples = 0, 0, 0
				for seed := range uint64(seeds) {
					within, f, n := s.found(b, seed)
					if within >= 1 && within <= 3 {
						hit++
					}
					alarms, samples = alarms+f, samples+n
				}
			}
			rate := 1000 * float64(alarms) / float64(samples)
			b.ReportMetric(float64(hit), "%in3")
			b.ReportMetric(rate, "false/1000")
			if float64(hit) < c.want || rate > c.alarm {
				b.Fatalf("%d %% within three samples, %.2g false alarms of 1,000: want %g and %g", hit, rate, c.want, c.alarm)
			}
		})
	}
}

// What the benchmark holds of many series, of few.
func TestWatch(t *testing.T) {
	s := site{pairs: disjointPairs(100), runs: 30, noise: normal(0.02), drift: 0.2, missing: 0.05, lostHost: 7, step: 0.06, from: 25}
	within, alarms, samples := s.found(t, 3)
	if within < 1 || within > 3 || alarms > 5 || samples < 1800 {
		t.Errorf("told after %d samples, %d false alarms in %d samples; want it within 3, and one false of 1,000", within, alarms, samples)
	}
}

// Of no noise the step is told within three runs, for one could be an outlier, with its size and
// the run at which it began; and when it goes away again.
func TestWatchTellsSize(t *testing.T) {
	s := site{pairs: disjointPairs(20), runs: 40, noise: func(*rand.Rand) float64 { return 0 }, drift: 0.5, lostHost: -1, step: 0.08, from: 12}
	runs, stepped := s.make(1)
	healed := 30
	for _, run := range runs[healed:] {
		for i := range run.Points {
			if p := &run.Points[i]; p.From == s.pairs[stepped][0] || p.To == s.pairs[stepped][0] {
				p.Seconds /= 1.08
			}
		}
	}
	r, err := Watch(runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Changes) != 2 {
		t.Fatalf("changes %+v, want one up and one down", r.Changes)
	}
	for i, want := range []Change{{Since: 12, Factor: 1.08}, {Since: 30, Factor: 1 / 1.08}} {
		if c := r.Changes[i]; c.Name != latencyOf(s.pairs[stepped]) || c.Since != want.Since || c.Run > want.Since+2 || math.Abs(c.Factor-want.Factor) > 1e-6 {
			t.Errorf("change %+v, want since run %d by %g", c, want.Since, want.Factor)
		}
	}
}

// A host's change is told of the host, before its pairs; a link's of the link, by its direction, though no pair shows it by
// itself.
func TestWatchHostsAndLinks(t *testing.T) {
	m := newMachine(t, "tree:4x4 latency=10us,5us", 5)
	m.sigma, m.outliers = 0.02, 0
	g := m.cluster.Graph
	up := -1
	for i, a := range g.Arcs() {
		if g.IsSwitch(a.From) && g.IsSwitch(a.To) && len(g.Out(a.To)) == 4 {
			up = i // from a rack to the root
			break
		}
	}
	var pairs [][2]int
	for d := 1; d < 16; d += 2 {
		for a := range 16 {
			if b := a ^ d; a < b {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	var runs []Run
	for day := range 24 {
		if day == 16 {
			m.host[3] = 1.06
			m.rate[up] /= 1.06
		}
		run := Run{Date: time.Date(2026, 11, 1+day, 0, 0, 0, 0, time.UTC)}
		for _, p := range pairs {
			read, err := m.read(t.Context(), [][2]int{p}) // one by one
			if err != nil {
				t.Fatal(err)
			}
			a, b := g.Name(p[0]), g.Name(p[1])
			run.Points = append(run.Points, Point{PointLatency, a, b, read[0].Latency}, Point{PointLong, a, b, read[0].Forward}, Point{PointLong, b, a, read[0].Back})
		}
		runs = append(runs, run)
	}
	r, err := Watch(runs, &WatchSettings{Graph: g, Routing: m.cluster.Choice})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"host h3": true, nameOfLink(newCandidatesOf(t, m), int32(len(g.Arcs())/2+up)): true}
	for _, c := range r.Changes {
		if c.Run >= 16 && c.Run <= 18 {
			delete(want, c.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not told within three runs: %v; changes %+v", want, r.Changes)
	}
}

func newCandidatesOf(t *testing.T, m *machine) *candidates {
	t.Helper()
	w, err := newWiring(&Settings{Graph: m.cluster.Graph, Routing: m.cluster.Choice}, m.cluster.Graph.Hosts())
	if err != nil {
		t.Fatal(err)
	}
	return newCandidates(w)
}

func TestWatchRefuses(t *testing.T) {
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		runs []Run
		s    WatchSettings
		want string
	}{
		{"negative step", nil, WatchSettings{Step: -1}, "Step"},
		{"certain alarms", nil, WatchSettings{FalseAlarms: 1}, "FalseAlarms"},
		{"dates backwards", []Run{{Date: day}, {Date: day.AddDate(0, 0, -1)}}, WatchSettings{}, "by date"},
		{"no time", []Run{{Points: []Point{{PointLatency, "a", "b", 0}}}}, WatchSettings{}, "0 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Watch(c.runs, &c.s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Watch = %v, want %q", err, c.want)
			}
		})
	}
}

// The mean time to an alarm of the Markov chain, against sums that are played.
func TestRunLengthAgainstSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	normalTail := newTail(nil, 1)
	for _, c := range []struct{ allowance, h float64 }{{0.5, 3}, {1, 2}} {
		const alarms = 2000
		samples := 0
		for range alarms {
			for sum := 0.0; sum <= c.h; samples++ {
				x := rng.NormFloat64()
				if rng.Float64() < grossShare {
					x = 50
				}
				sum = max(0, sum+min(x-c.allowance, pastAllowance))
			}
		}
		played := float64(samples) / alarms
		if got := normalTail.runLength(c.allowance, c.h); math.Abs(got/played-1) > 0.1 {
			t.Errorf("allowance %g, threshold %g: run length %g, played %g", c.allowance, c.h, got, played)
		}
	}
}
