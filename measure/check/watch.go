package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// A Run is a sample of a site at one time.
type Run struct {
	Date   time.Time
	Points []Point
}

// A Point is one reading of a run. Latencies have no direction.
type Point struct {
	Kind     PointKind
	From, To string  // names of hosts
	Seconds  float64 // s; above 0
}

// A PointKind is of which messages a point tells.
type PointKind string

// The kinds of points.
const (
	PointLatency PointKind = "latency" // half a round trip of a short message
	PointLong    PointKind = "long"    // a long message, answered by a short one
)

// WatchSettings of Watch. Nil and the zero value mean all defaults.
type WatchSettings struct {
	// Step is the least change that is looked for, as a share. Default 0.05.
	Step float64

	// FalseAlarms is the share of runs without a change in which anything at all is told, however many series there
	// are. Default 0.01, one night in a hundred; 0.0001 to 0.1.
	FalseAlarms float64

	// Graph is the wiring, with hosts of the names that runs have. Nil: changes are those of pairs
	// and hosts.
	Graph *topology.Graph

	// Routing says which of equally short routes is taken.
	Routing topology.RouteChoice
}

const (
	defaultStep       = 0.05
	defaultWatchRate  = 0.01
	fewSeries         = 5   // below, what runs have in common cannot be told from single changes
	pairsOfHost       = 3   // of which a host has a series of its own
	mostPrior         = 200 // samples that the sigma of all series weighs at most against a series' own
	differenceWeight  = 0.6 // of a difference: mean squares of clipped differences tell this share of what samples do
	polishSteps       = 5
	sharedChange      = 0.75 // of a host's change, which the middle one of its other pairs has
	knownNoise        = 0.6  // of the false alarms; the rest is for noise of series that is not known well (BenchmarkHealthyNights)
	leastSeriesSpread = 1e-4
)

// A Change is a step in what a host, link or pair takes.
type Change struct {
	Name     string    // "host n7", "link a - b", "latency a - b", "long messages a > b"
	Subject  Subject   // of what
	Kind     PointKind // in which messages
	Run      int       // at which it is told
	Since    int       // the first that is of the new level
	Factor   float64   // new over old time
	Strength float64   // sum over threshold: from 1 up
	Pairs    int       // of a host or link: how many pairs tell of it
}

// A Subject is what a change is of.
type Subject int

// The subjects.
const (
	OfPair Subject = iota
	OfHost
	OfLink // or one direction of it
)

// A WatchResult is what Watch has found.
type WatchResult struct {
	Runs    int
	Series  int      // hosts, links and pairs that are watched
	Samples int      // of them that were judged
	Changes []Change // by run; of one run links and hosts before pairs, and the strongest first
	Short   int      // series of too few samples to be judged
}

// Watch looks for changes in the runs of a site, which are in the order of their dates: steps
// in single pairs, in all pairs of a host and, with a graph, in all that crosses a link or a
// direction of one.
//
// What all series of a run have in common is taken out (median polish; Tukey 1977): a run on a
// busy day, another library. Then each series is compared with its own past (see the package's
// manual), so nothing needs to be known of what it should be. Missing hosts and pairs are
// gaps. The first 8 samples of a series only found its level. O(samples * iterations), and some
// 10 ms for each distinct spread of series.
func Watch(runs []Run, settings *WatchSettings) (*WatchResult, error) {
	var s WatchSettings
	if settings != nil {
		s = *settings
	}
	if s.Step == 0 {
		s.Step = defaultStep
	}
	if s.FalseAlarms == 0 {
		s.FalseAlarms = defaultWatchRate
	}
	if !(s.Step > 0) || s.Step > 10 {
		return nil, fmt.Errorf("check: WatchSettings.Step: %v: want above 0, at most 10", s.Step)
	}
	if !(s.FalseAlarms >= 1e-4 && s.FalseAlarms <= 0.1) {
		return nil, fmt.Errorf("check: WatchSettings.FalseAlarms: %v: want 0.0001 to 0.1", s.FalseAlarms)
	}
	for i := 1; i < len(runs); i++ {
		if runs[i].Date.Before(runs[i-1].Date) {
			return nil, fmt.Errorf("check: watch: run %d of %s is after that of %s: want them by date", i, runs[i].Date.Format(time.RFC3339), runs[i-1].Date.Format(time.RFC3339))
		}
	}
	out := &WatchResult{Runs: len(runs)}
	var all []family
	for _, kind := range []PointKind{PointLatency, PointLong} {
		pairs, err := pairSeries(runs, kind)
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			continue
		}
		polish(pairs, len(runs))
		all = append(all, family{kind, pairs, pairs}, family{kind, pairs, hostSeries(pairs, len(runs))})
		if s.Graph != nil {
			links, err := linkSeries(pairs, len(runs), kind, &s)
			if err != nil {
				return nil, err
			}
			all = append(all, family{kind, pairs, links})
		}
	}
	// Half of the false alarms are for pairs, of which there are many, and half for hosts and links, of which there are
	// few: so these are told sooner. The rate of a run is that of all its series together (Bonferroni).
	count := map[bool]int{}
	for _, f := range all {
		count[f.isPairs()] += len(f.series)
	}
	for _, f := range all {
		out.watch(f, s.Step, knownNoise*s.FalseAlarms/2/float64(max(1, count[f.isPairs()])))
	}
	out.sort()
	return out, nil
}

// A family are series of one kind of messages: of pairs, or of hosts or links.
type family struct {
	kind   PointKind
	pairs  []series // of the same messages
	series []series
}

func (f *family) isPairs() bool { return len(f.series) > 0 && f.series[0].subject == OfPair }

// A series is what a pair, host or link took in each run.
type series struct {
	subject  Subject
	name     string
	from, to string    // of a pair
	of       []int     // pairs of a host or link
	x        []float64 // logarithms, NaN where missing
	scale    float64   // of its noise, against other series of the family
}

// pairSeries sorts the points of a kind by pairs. Several of one pair in a run, as there and back,
// are one sample: their mean, or the least if they disagree.
func pairSeries(runs []Run, kind PointKind) ([]series, error) {
	index := map[[2]string]int{}
	var all []series
	var counts []joined
	for t, run := range runs {
		for _, p := range run.Points {
			if !(p.Seconds > 0) || math.IsInf(p.Seconds, 1) {
				return nil, fmt.Errorf("check: watch: run %d, %s %s-%s: %g s: want above 0 and finite", t, p.Kind, p.From, p.To, p.Seconds)
			}
			if p.Kind != kind || p.From == p.To {
				continue
			}
			from, to := p.From, p.To
			if kind == PointLatency && compareNames(to, from) < 0 {
				from, to = to, from
			}
			i, ok := index[[2]string{from, to}]
			if !ok {
				i = len(all)
				index[[2]string{from, to}] = i
				name := "latency " + from + " - " + to
				if kind == PointLong {
					name = "long messages " + from + " > " + to
				}
				all = append(all, series{subject: OfPair, name: name, from: from, to: to, x: missing(len(runs)), scale: 1})
				counts = append(counts, joined{make([]int, len(runs)), make([]float64, len(runs)), make([]float64, len(runs))})
			}
			all[i].x[t] = counts[i].join(t, math.Log(p.Seconds))
		}
	}
	return all, nil
}

// joined are points of a pair that make one sample of each run.
type joined struct {
	count      []int
	sum, least []float64
}

// disagree is by how much the mean of points may be above the least one, as a logarithm: with
// outliers among them, the least one counts.
const disagree = 0.1

// join is the sample with one more point.
func (j *joined) join(t int, x float64) float64 {
	if j.count[t]++; j.count[t] == 1 {
		j.least[t] = x
	}
	j.sum[t] += x
	j.least[t] = min(j.least[t], x)
	if mean := j.sum[t] / float64(j.count[t]); mean-j.least[t] <= disagree {
		return mean
	}
	return j.least[t]
}

func missing(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

// polish takes out of all series what each run has added to most, and their medians.
func polish(all []series, runs int) {
	for step := range polishSteps {
		for i := range all {
			m := medianOf(all[i].x)
			for t := range all[i].x {
				all[i].x[t] -= m
			}
		}
		if len(all) < fewSeries || step == polishSteps-1 {
			continue
		}
		for t := range runs {
			column := make([]float64, 0, len(all))
			for i := range all {
				column = append(column, all[i].x[t])
			}
			if m := medianOf(column); !math.IsNaN(m) {
				for i := range all {
					all[i].x[t] -= m
				}
			}
		}
	}
}

// hostSeries are the medians over the pairs of each host.
func hostSeries(pairs []series, runs int) []series {
	of := map[string][]int{}
	var names []string
	for i, p := range pairs {
		for _, h := range []string{p.from, p.to} {
			if of[h] == nil {
				names = append(names, h)
			}
			of[h] = append(of[h], i)
		}
	}
	var all []series
	for _, h := range names {
		if len(of[h]) < pairsOfHost {
			continue
		}
		s := series{subject: OfHost, name: "host " + h, of: of[h], x: missing(runs), scale: 1 / math.Sqrt(float64(len(of[h])))}
		for t := range runs {
			var here []float64
			for _, i := range of[h] {
				if v := pairs[i].x[t]; !math.IsNaN(v) {
					here = append(here, v)
				}
			}
			if len(here) >= pairsOfHost {
				s.x[t] = medianOf(here)
			}
		}
		all = append(all, s)
	}
	return all
}

// watch looks for the steps of a family of series: once by thresholds for normal noise with gross
// outliers, and again by the residuals that were met. rate is that of false alarms per series and run.
func (out *WatchResult) watch(of family, least, rate float64) {
	family, kind := of.series, of.kind
	sigmas := spreads(family)
	w := &watcher{step: least, rate: rate, up: newTail(nil, 1), down: newTail(nil, -1)}
	for i := range family {
		w.steps(family[i].x, sigmas[i])
	}
	w.up, w.down = newTail(w.residuals, 1), newTail(w.residuals, -1)
	w.residuals = nil
	for i := range family {
		f := &family[i]
		before := len(w.residuals)
		for _, st := range w.steps(f.x, sigmas[i]) {
			if f.subject == OfHost && !of.isShared(f, st) {
				continue
			}
			out.Changes = append(out.Changes, Change{
				Name: f.name, Subject: f.subject, Kind: kind, Run: st.told, Since: st.since,
				Factor: math.Exp(st.change), Strength: st.strength, Pairs: len(f.of),
			})
		}
		out.Series++
		if len(w.residuals) == before {
			out.Short++
		}
	}
	out.Samples += len(w.residuals)
}

// isShared tells whether the pairs of a host have changed as the host has, but for the one that has changed most: one pair of few moves their
// median, too.
func (of *family) isShared(host *series, st step) bool {
	var shares []float64
	for _, i := range host.of {
		x := of.pairs[i].x
		if change := medianOf(x[st.since:st.told+1]) - medianOf(x[:st.since]); !math.IsNaN(change) {
			shares = append(shares, change/st.change)
		}
	}
	if len(shares) < 2 {
		return false
	}
	slices.Sort(shares)
	return stats.MiddleMedian(shares[:len(shares)-1]) >= sharedChange
}

// spreads are the sigmas of series, from differences of samples that follow each other, which a step
// hardly changes: the series' own, drawn to that of the family by as much as the family's agree (Smyth 2004,
// https://doi.org/10.2202/1544-6115.1027).
func spreads(family []series) []float64 {
	var all []float64
	own := make([][]float64, len(family))
	for i, f := range family {
		last := math.NaN()
		for _, v := range f.x {
			if math.IsNaN(v) {
				continue
			}
			if !math.IsNaN(last) {
				own[i] = append(own[i], math.Abs(v-last)/f.scale)
			}
			last = v
		}
		all = append(all, own[i]...)
	}
	sigmas := make([]float64, len(family))
	typical := leastSeriesSpread
	if len(all) > 0 {
		typical = max(typical, stats.SigmaOfOne(all))
	}
	alone := make([]float64, len(family))
	for i := range family {
		alone[i] = math.Max(leastSeriesSpread, clippedSigma(own[i])) // NaN of none
	}
	prior := priorSamples(alone, own)
	for i, f := range family {
		variance, n := typical*typical, differenceWeight*float64(len(own[i]))
		if n > 0 {
			variance = (prior*variance + n*alone[i]*alone[i]) / (prior + n)
		}
		sigmas[i] = math.Sqrt(variance) * f.scale
	}
	return sigmas
}

// Mean squares of normal values that are clipped at so many sigma, in sigma squared: they lie below one by what is clipped.
const (
	differenceClip = 2.5
	clippedSquare  = 0.9776
)

// clippedSigma is the standard deviation of one value where differences are the absolute differences of two each: their mean square, where
// those that are far out count no more than differenceClip sigma (Huber 1964, https://doi.org/10.1214/aoms/1177703732). It
// reorders them.
func clippedSigma(differences []float64) float64 {
	sigma := stats.SigmaOfOne(differences) * math.Sqrt2 // of a difference
	for range 3 {
		sum := 0.0
		for _, d := range differences {
			d = math.Min(d, differenceClip*sigma)
			sum += d * d
		}
		sigma = math.Sqrt(sum / clippedSquare / float64(len(differences)))
	}
	return sigma / math.Sqrt2
}

// priorSamples is how many samples the sigma of a family weighs against that of one series: few where the logarithms of the
// variances of series differ by more than they would by chance. That of n samples has a variance of 2/n.
func priorSamples(sigmas []float64, differences [][]float64) float64 {
	var logs []float64
	chance := 0.0
	for i, sigma := range sigmas {
		if n := differenceWeight * float64(len(differences[i])); n > 0 {
			logs = append(logs, 2*math.Log(sigma))
			chance += 2 / n
		}
	}
	if len(logs) < fewSeries {
		return mostPrior
	}
	middle := medianOf(logs)
	off := make([]float64, len(logs))
	for i, x := range logs {
		off[i] = math.Abs(x - middle)
	}
	spread := stats.Sigma(off)
	apart := spread*spread - chance/float64(len(logs))
	return math.Min(mostPrior, 2/math.Max(apart, 2/float64(mostPrior)))
}

func (out *WatchResult) sort() {
	slices.SortStableFunc(out.Changes, func(a, b Change) int {
		pair := func(c Change) int {
			if c.Subject == OfPair {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(pair(a), pair(b)), cmp.Compare(b.Strength, a.Strength), compareNames(a.Name, b.Name))
	})
}
