package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
)

// A site makes runs of pairs with noise, whose truth is known.
type site struct {
	pairs    [][2]string
	runs     int
	once     bool // one way of each pair is read, not both
	noise    func(*rand.Rand) float64
	uneven   float64 // the noisiest pair has so many times the noise of the quietest; 0: all alike
	points   int     // of a pair in a run, from 1 to so many; 0: one each way, or once
	drift    float64 // whole runs are slower by up to this share
	missing  float64 // share of pairs that a run lacks
	lostHost int     // is in no run from a third of them on; -1: none
	step     float64 // of one pair from a run on
	host     bool    // of all pairs of a host, the first of that pair
	from     int
}

func (s *site) make(seed uint64) (runs []Run, stepped int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	base, noise, points := make([]float64, len(s.pairs)), make([]float64, len(s.pairs)), make([]int, len(s.pairs))
	for i := range base {
		base[i], noise[i], points[i] = 5e-6*(1+3*rng.Float64()), 1, 2
		if s.once {
			points[i] = 1
		}
		if s.uneven > 0 {
			noise[i] = math.Pow(s.uneven, rng.Float64())
		}
		if s.points > 0 {
			points[i] = 1 + rng.IntN(s.points)
		}
	}
	stepped = rng.IntN(len(s.pairs))
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for t := range s.runs {
		run := Run{Date: start.AddDate(0, 0, t)}
		whole := 1 + s.drift*rng.Float64()
		for i, p := range s.pairs {
			x := base[i] * whole
			hit := i == stepped || s.host && (p[0] == s.pairs[stepped][0] || p[1] == s.pairs[stepped][0])
			if hit && t >= s.from {
				x *= 1 + s.step
			}
			if lost := fmt.Sprintf("n%d", s.lostHost); s.lostHost >= 0 && t > s.runs/3 && (p[0] == lost || p[1] == lost) || rng.Float64() < s.missing {
				continue
			}
			for k := range points[i] {
				run.Points = append(run.Points, Point{false, p[k%2], p[1-k%2], x * math.Exp(noise[i]*s.noise(rng))})
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

// gross is normal but for a share of measurements that take 1.5 to 10 times as long.
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

// sampled are the pairs of so many hosts, about four of each, that a run of Sample has. The lower number stands first, as
// in the names of changes.
func sampled(hosts int) (all [][2]string) {
	pair := func(a, b int) [2]string {
		a, b = min(a, b), max(a, b)
		return [2]string{fmt.Sprintf("n%d", a), fmt.Sprintf("n%d", b)}
	}
	for h := range hosts {
		all = append(all, pair(h, (h+1)%hosts), pair(h, (h+5)%hosts))
	}
	return all
}

// steps tells in how many of some sites a step was told in the nights that it takes at most, and of what was told after
// it began how much is innocent.
func steps(t testing.TB, s site, sites, within int) (told int, innocent, all int) {
	for seed := range uint64(sites) {
		runs, stepped := s.make(seed)
		r, err := Watch(runs, nil)
		if err != nil {
			t.Fatal(err)
		}
		hit := false
		for _, c := range r.Changes {
			if c.Run < s.from {
				continue
			}
			all++
			host := s.pairs[stepped][0]
			right := c.Name == latencyOf(s.pairs[stepped]) || s.host && (c.Name == "host "+host || strings.HasPrefix(c.Name, "latency "+host+" -") || strings.HasSuffix(c.Name, "- "+host))
			if !right {
				innocent++
			}
			wanted := latencyOf(s.pairs[stepped])
			if s.host {
				wanted = "host " + host
			}
			hit = hit || c.Name == wanted && c.Run < s.from+within && c.Factor > 1
		}
		if hit {
			told++
		}
	}
	return told, innocent, all
}

type watchCase struct {
	name   string
	step   float64
	host   bool
	within int // nights
	noise  func(*rand.Rand) float64
}

// How many nights a step takes among 64 hosts, 2 % of noise and both ways measured, so 1.4 % of a sample. The threshold
// of a pair is passed by chance in one of 100 runs by any of 128 pairs, so one pair has a rate of 4e-5 a night, and the
// best test of n samples (Neyman, Pearson 1933) needs n of it with (ln 1.05/0.014) sqrt(n/(1+n/24)) > 3.9 + 1.6 in 95 of
// 100: three nights for 5 %. A sum takes 1.75 sigma of one night at most, so that one outlier tells nothing: four to five.
func watchCases() []watchCase {
	return []watchCase{
		{"pair, 5 %", 0.05, false, 7, normal(0.02)},
		{"pair, 10 %", 0.1, false, 6, normal(0.02)},
		{"pair, 20 %", 0.2, false, 6, normal(0.02)},
		{"host, 5 %", 0.05, true, 5, normal(0.02)},
		{"host, 10 %", 0.1, true, 5, normal(0.02)},
		{"host, 20 %", 0.2, true, 5, normal(0.02)},
		{"pair, 10 %, outliers", 0.1, false, 8, gross(0.02, 0.02)},
		{"pair, 10 %, heavy tails", 0.1, false, 8, student(0.02)},
	}
}

func BenchmarkWatch(b *testing.B) {
	for _, c := range watchCases() {
		b.Run(c.name, func(b *testing.B) {
			const sites = 100
			s := site{pairs: sampled(64), runs: 36, from: 24, step: c.step, host: c.host, noise: c.noise, lostHost: -1}
			for b.Loop() {
				told, innocent, all := steps(b, s, sites, c.within)
				b.ReportMetric(float64(told), "%in-time")
				b.ReportMetric(100*float64(innocent)/float64(all), "%innocent")
			}
		})
	}
}

// Steps are told in the nights that they take, in 95 of 100 sites (BenchmarkWatch), so of 10 in 7 but for once in 1,000
// (binomial). Innocents are at most 5 % of what is told, and the false alarms of one night in a hundred: of 120 nights
// 1.2, and four standard errors.
func TestWatchTellsStepsInTime(t *testing.T) {
	for _, c := range watchCases() {
		s := site{pairs: sampled(64), runs: 36, from: 24, step: c.step, host: c.host, noise: c.noise, lostHost: -1}
		told, innocent, all := steps(t, s, 10, c.within)
		nights := 0.01 * float64(10*(s.runs-s.from))
		if told < 7 || float64(innocent) > 0.05*float64(all)+nights+4*math.Sqrt(nights) {
			t.Errorf("%s: told within %d nights at %d of 10 sites, %d of %d changes are innocent", c.name, c.within, told, innocent, all)
		}
	}
}

// What the benchmark holds of many series, of few.
func TestWatch(t *testing.T) {
	s := site{pairs: disjointPairs(100), runs: 30, noise: normal(0.02), drift: 0.2, missing: 0.05, lostHost: 7, step: 0.06, from: 22}
	within, alarms, samples := s.found(t, 3)
	if within < 1 || within > 8 || alarms > 1 || samples < 1800 {
		t.Errorf("told after %d samples, %d false alarms in %d samples; want it within 8, and one false alarm at most", within, alarms, samples)
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
			run.Points = append(run.Points, Point{false, a, b, read[0].Latency}, Point{true, a, b, read[0].Forward}, Point{true, b, a, read[0].Back})
		}
		runs = append(runs, run)
	}
	r, err := Watch(runs, &WatchSettings{Graph: g, Routing: m.cluster.Choice})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"host h3": true, newCandidatesOf(t, m).nameOf(int32(len(g.Arcs())/2 + up)): true}
	for _, c := range r.Changes {
		if c.Run >= 16 && c.Run <= 18 {
			delete(want, c.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not told within three runs: %v; changes %+v", want, r.Changes)
	}
}

func newCandidatesOf(t testing.TB, m *machine) *candidates {
	t.Helper()
	w, err := newWiring(&Settings{Graph: m.cluster.Graph, Routing: m.cluster.Choice}, m.cluster.Graph.Hosts(), nil)
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
		{"no time", []Run{{Points: []Point{{false, "a", "b", 0}}}}, WatchSettings{}, "0 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Watch(c.runs, &c.s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Watch = %v, want %q", err, c.want)
			}
		})
	}
}

// nights are runs of a site without changes, of the pairs that Sample takes (4 of each host) or of all pairs, and how many
// of the judged ones tell anything.
func nights(t testing.TB, hosts, runs int, allPairs bool, s site, seed uint64) (judged, told int) {
	s.runs, s.lostHost, s.drift = runs, -1, 0.1
	name := func(h int) string { return fmt.Sprintf("n%d", h) }
	for a := range hosts {
		for d := 1; d < hosts-a; d++ {
			if allPairs || d == 1 || d == 3 {
				s.pairs = append(s.pairs, [2]string{name(a), name(a + d)})
			}
		}
		if !allPairs && a < 4 {
			s.pairs = append(s.pairs, [2]string{name(a), name(hosts - 1 - a)})
		}
	}
	all, _ := s.make(seed)
	r, err := Watch(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	days := map[int]bool{}
	for _, c := range r.Changes {
		days[c.Run] = true
	}
	return runs - warmUp, len(days)
}

// A healthy site tells anything on one night in a hundred at most, however many hosts it has and whether all pairs are
// measured or few, whether pairs are equally noisy or equally often measured, but for chance: four standard errors.
func TestHealthyNightsAreQuiet(t *testing.T) {
	for _, c := range healthySites() {
		if !tooltest.Long() {
			c.sites = max(2, c.sites/5)
		}
		judged, told := 0, 0
		for seed := range uint64(c.sites) {
			n, k := nights(t, c.hosts, 48, c.allPairs, c.site, seed)
			judged, told = judged+n, told+k
		}
		t.Logf("%s: %d of %d nights", c.name, told, judged)
		share := 0.01 * float64(judged)
		if float64(told) > share+4*math.Sqrt(share) {
			t.Errorf("%s: %d of %d healthy nights tell something, want 1 in 100", c.name, told, judged)
		}
	}
}

// Each night the file so far is judged, and what its newest run tells is reported. That is quiet from the first night that is
// judged on, also where pairs differ in their noise, and few samples tell the noise of each. Four standard errors are for chance.
func TestNewestNightsAreQuiet(t *testing.T) {
	const until = 28
	sites := 4
	if tooltest.Long() {
		sites = 12
	}
	for _, noisiest := range []float64{4, 10} {
		judged, told := 0, 0
		for seed := range uint64(sites) {
			s := site{pairs: sampled(64), runs: until, lostHost: -1, drift: 0.1, noise: normal(0.01), uneven: noisiest}
			runs, _ := s.make(seed)
			for n := warmUp + fewestNew; n <= until; n++ {
				r, err := Watch(runs[:n], nil)
				if err != nil {
					t.Fatal(err)
				}
				judged++
				if slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Run == n-1 }) {
					told++
				}
			}
		}
		share := 0.01 * float64(judged)
		if float64(told) > share+4*math.Sqrt(share) {
			t.Errorf("noise of 1 to %g: %d of %d newest nights tell something, want 1 in 100", noisiest, told, judged)
		}
	}
}

// The threshold of sums of clipped samples, whose sigma is estimated by some normal values: by chance they lie off by so
// much at the stated rate. Four standard errors of a count.
func TestThresholdHoldsItsRate(t *testing.T) {
	const rate, tries, samples = 0.01, 40000, 12
	rng := rand.New(rand.NewPCG(3, 3))
	for _, freedom := range []int{3, 6, 20, 200} {
		off, bar := 0, threshold(rate, freedom)
		for range tries {
			squares := 0.0
			for range freedom {
				x := rng.NormFloat64()
				squares += x * x
			}
			sigma, sum := math.Sqrt(squares/float64(freedom)), 0.0
			for range samples {
				sum += clip(rng.NormFloat64()/sigma, clipAt)
			}
			if sum/math.Sqrt(samples) > bar {
				off++
			}
		}
		if want := rate * tries; math.Abs(float64(off)-want) > 4*math.Sqrt(want) {
			t.Errorf("%d degrees of freedom: %d of %d sums are off by %g, want %.0f", freedom, off, tries, bar, want)
		}
	}
}

type healthySite struct {
	name         string
	hosts, sites int
	allPairs     bool
	site         site
}

func healthySites() []healthySite {
	return []healthySite{
		{"16 hosts, all pairs", 16, 20, true, site{noise: normal(0.02)}},
		{"64 hosts", 64, 10, false, site{noise: normal(0.02)}},
		{"64 hosts, all pairs", 64, 3, true, site{noise: normal(0.02)}},
		{"256 hosts", 256, 6, false, site{noise: normal(0.02)}},
		{"16 hosts, all pairs, noise 1 to 4", 16, 20, true, site{noise: normal(0.01), uneven: 4}},
		{"64 hosts, noise 1 to 4", 64, 20, false, site{noise: normal(0.01), uneven: 4}},
		{"64 hosts, 1 to 8 points", 64, 20, false, site{noise: normal(0.02), points: 8}},
		{"64 hosts, outliers, noise 1 to 2", 64, 20, false, site{noise: gross(0.01, 0.01), uneven: 2}},
	}
}

// BenchmarkHealthyNights is the table of the same, of 30 sites each.
func BenchmarkHealthyNights(b *testing.B) {
	for _, c := range healthySites() {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				judged, told := 0, 0
				for seed := range uint64(30) {
					n, k := nights(b, c.hosts, 48, c.allPairs, c.site, 1000+seed)
					judged, told = judged+n, told+k
				}
				b.ReportMetric(100*float64(told)/float64(judged), "%nights")
			}
		})
	}
}

// Of normal noise that is known, a series tells a step in as many runs as the rate of false alarms at most.
func TestSeriesOfNoiseAreQuiet(t *testing.T) {
	const rate, series, runs = 1e-3, 4000, 40
	told := toldOfNoise(rate, series, runs)
	// Four standard errors of a count.
	if want := rate * series * (runs - warmUp); told == 0 || float64(told) > want+4*math.Sqrt(want) {
		t.Errorf("%d steps, want 1 to %.0f", told, want)
	}
}

// The first samples that are judged are held against a level that eight samples have told, and that doubt is in the threshold. Ten
// runs have two such samples, which are judged once, and that has one of eleven equal parts of the rate.
func TestFirstLevelsAreInDoubt(t *testing.T) {
	const rate, series = 0.11, 20000
	want := rate / (mostNew - fewestNew + 1) * series
	if told := toldOfNoise(rate, series, warmUp+fewestNew); math.Abs(float64(told)-want) > 4*math.Sqrt(want) {
		t.Errorf("%d steps, want %.0f", told, want)
	}
}

// toldOfNoise are the steps that series of normal noise tell.
func toldOfNoise(rate float64, count, runs int) (told int) {
	rng := rand.New(rand.NewPCG(5, 5))
	w := newWatcher(1e-9, rate)
	for range count {
		x := make([]float64, runs)
		for i := range x {
			x[i] = 0.02 * rng.NormFloat64()
		}
		told += len(w.steps(&series{x: x, sigma: 0.02, freedom: 1e6}))
	}
	return told
}
