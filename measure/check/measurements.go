package check

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/model/contention"
)

// A kind of measurement.
type kind int8

const (
	ofLatency kind = iota
	ofRate         // the time of a long message one way, answered by a short one
	kinds
)

// A sample is one measurement with what it crossed.
type sample struct {
	kind    kind
	group   int32 // of measurements.groups
	from    int
	to      int
	value   float64 // s
	nominal float64 // s, as the graph has it; without one that of all pairs alike
	limit   limit   // under load, what bounds its rate
	inner   bool    // under load, whether a link between switches does, or nearly
	route   []int32 // arcs, of a round trip there and back; under load there only
	flow    int     // under load, its number in its round
	short   int     // of a long message, the sample of a short one of the same pair in the same round; -1: none
	usual   float64 // s, what such measurements take here
	doubt   float64 // of its logarithm, one sigma
	excess  float64 // ln(value/usual), less what faults that were found explain
	aside   *place  // a part of what touches this place is slow, so it tells of no other; nil: it tells of all
}

// A crossing says how a sample depends on a candidate.
type crossing struct {
	sample  int
	nominal float64 // d ln(time) / d ln(the candidate's time), as the graph has it
	weight  float64 // the same of the usual time, which has overheads in it that no link makes
	least   float64 // what the weight is at least: of a host's cable without the host, of a rate without all latencies of its message
	most    float64 // what the weight is at most: of a host's cable with the overhead of the host
	full    float64 // of an arc: how full its rate was; below 1 a part of a slowdown is not seen
}

// pull is the weight of a crossing in scores: of what a candidate of half its speed would show.
func (cr *crossing) pull() float64 { return cr.nominal * math.Log2(2*min(1, cr.full)) }

// A group are the samples of one phase of one round: they were taken at the same time.
type group struct {
	kind        kind
	pairs       [][2]int          // of long messages the sender first
	flows       []contention.Flow // of long messages
	first, last int               // its samples are measurements.samples[first:last]
}

// has tells whether a host has a part in the group.
func (g *group) has(host int) bool {
	return slices.ContainsFunc(g.pairs, func(pair [2]int) bool { return pair[0] == host || pair[1] == host })
}

// measurements are all samples so far.
type measurements struct {
	w         *wiring
	c         *candidates
	bytes     float64
	samples   []sample
	crossings [][]crossing             // of each candidate, by sample
	apart     [kinds]stats.Differences // of screening samples that should be alike but for noise
	back      stats.Differences        // of long messages of one pair there and back, in the screening
	screened  int                      // samples before the narrowing down; 0: it has not begun
	tested    map[int32]int            // the first sample that tests a candidate: it had no say in that the candidate was picked
	groups    []group
	pairs     int
	line      [kinds]line    // what measurements of a nominal time usually take
	sigma     [kinds]float64 // spread of the excess of a healthy machine

	solver *contention.Solver // over channels as slow as they were found to be
}

func newMeasurements(w *wiring, bytes int) (*measurements, error) {
	r := &measurements{w: w, c: newCandidates(w), bytes: float64(bytes), tested: map[int32]int{}}
	r.crossings = make([][]crossing, len(r.c.all))
	var err error
	if r.solver, err = contention.NewSolver(w.capacity, nil); err != nil {
		return nil, err
	}
	return r, nil
}

// add takes over the measurements of a round, and tells learn how much channels have carried at one time, in B/s.
func (r *measurements) add(pairs [][2]int, read []measurement, learn func(usage []float64)) error {
	r.pairs += len(pairs)
	var there, back []float64
	var reversed [][2]int
	for i, pair := range pairs {
		there, back = append(there, read[i].Forward), append(back, read[i].Back)
		reversed = append(reversed, [2]int{pair[1], pair[0]})
	}
	short := slices.Repeat([]int{-1}, len(pairs))
	if r.w.load {
		return r.addTransfers(pairs, there, short, learn)
	}
	r.begin(ofLatency, pairs, nil)
	var x path
	for i, pair := range pairs {
		r.w.find(&x, pair[0], pair[1])
		// Over links that take no time, as the graph has it, there is nothing to hold a latency against.
		s := sample{short: -1, from: pair[0], to: pair[1], value: read[i].Latency, nominal: r.w.oneWay(&x), route: slices.Clone(x.arcs)}
		if r.addSample(s) {
			r.w.eachLink(&x, func(link int32, share float64) { r.cross(r.c.ofLink(link), share, 1) })
			r.cross(r.c.ofHost(pair[0], slowAnswer), 1, 1)
			r.cross(r.c.ofHost(pair[1], slowAnswer), 1, 1)
			short[i] = len(r.samples) - 1
		}
		if r.screened == 0 {
			r.back.Add(read[i].Forward, read[i].Back)
		}
	}
	if err := r.addTransfers(pairs, there, short, learn); err != nil {
		return err
	}
	return r.addTransfers(reversed, back, short, learn)
}

// begin begins a group.
func (r *measurements) begin(k kind, pairs [][2]int, flows []contention.Flow) {
	r.groups = append(r.groups, group{kind: k, pairs: pairs, flows: flows, first: len(r.samples), last: len(r.samples)})
}

// addSample takes over a sample of the last group, unless it was not measured.
func (r *measurements) addSample(s sample) (added bool) {
	if !(s.value > 0) || math.IsInf(s.value, 1) || s.nominal == 0 {
		return false
	}
	id := len(r.samples)
	s.group = int32(len(r.groups) - 1)
	s.kind = r.groups[s.group].kind
	r.samples = append(r.samples, s)
	r.groups[s.group].last = len(r.samples)
	if r.screened == 0 && id > 0 && r.w.neighbours(&r.samples[id-1], &s) {
		r.apart[s.kind].Add(r.samples[id-1].value/r.samples[id-1].nominal, s.value/s.nominal)
	}
	return true
}

// cross notes that the last sample crosses a candidate. A link that is crossed there and back adds up.
func (r *measurements) cross(candidate int32, weight, full float64) {
	if candidate < 0 || !(weight > 0) {
		return
	}
	all, id := r.crossings[candidate], len(r.samples)-1
	if n := len(all) - 1; n >= 0 && all[n].sample == id {
		weight += all[n].weight
		all = all[:n]
	}
	r.crossings[candidate] = append(all, crossing{id, weight, weight, weight, weight, full})
}

// crossed are the samples in [from, to) that crossed a candidate.
func (r *measurements) crossed(candidate int32, from, to int) iter.Seq2[*sample, *crossing] {
	all := r.crossings[candidate]
	first, _ := slices.BinarySearchFunc(all, from, func(cr crossing, sample int) int { return cr.sample - sample })
	return func(yield func(*sample, *crossing) bool) {
		for i := first; i < len(all) && all[i].sample < to; i++ {
			if !yield(&r.samples[all[i].sample], &all[i]) {
				return
			}
		}
	}
}

// ofAll are all samples that crossed a candidate.
func (r *measurements) ofAll(candidate int32) iter.Seq2[*sample, *crossing] {
	return r.crossed(candidate, 0, len(r.samples))
}

// lateness is by how much a slow latency may make a long message longer, as a logarithm: a library asks for it and is
// answered before it sends it, and a short message follows. So it may take shortInLong times what a short message of the
// same pair took longer than usual.
func (r *measurements) lateness(s *sample) float64 {
	if s.short < 0 {
		return 0
	}
	short := &r.samples[s.short]
	return math.Log1p(shortInLong * max(0, short.value-short.usual) / s.usual)
}

// shortInLong are the latencies in the time of a long message: two to ask and to be answered, its own, and that of the short one
// that follows.
const shortInLong = 4

const (
	fewAlike = 8    // samples of one length that tell what such measurements take, at least
	gapAlike = 0.02 // of the nominal time, between measurements that are not alike
)

// compare finds what measurements that are alike usually take here, by those of the first part, and how much more each
// sample is. What all measurements of a class have in common is the machine's own: overheads, or a protocol of the library.
// What the samples of one group have in common is the load at that time. It is taken out once the classes are known,
// and then the classes are found again.
func (r *measurements) compare() {
	for k := range kinds {
		var ids []int
		for i := range r.samples {
			if r.samples[i].kind == k {
				ids = append(ids, i)
			}
		}
		if len(ids) == 0 {
			continue
		}
		load := make([]float64, len(r.groups))
		for range 2 {
			r.compareAlike(k, ids, load)
			r.takeOutLoad(k, load)
		}
		r.sigma[k] = max(stats.SigmaAbout(0, r.ofScreened(ids, func(s *sample) float64 { return s.excess })), leastSigma)
	}
}

// takeOutLoad adds to the load of each group what the excesses of its samples have in common, their median, and takes it out of them.
func (r *measurements) takeOutLoad(k kind, load []float64) {
	for i := range r.groups {
		g := &r.groups[i]
		if g.kind != k || g.last-g.first < fewInGroup {
			continue
		}
		var excesses []float64
		for _, s := range r.samples[g.first:g.last] {
			excesses = append(excesses, s.excess)
		}
		more := stats.MiddleMedian(excesses)
		load[i] += more
		for n := g.first; n < g.last; n++ {
			r.samples[n].excess -= more
		}
	}
}

// fewInGroup is the number of samples from which on a group tells of the load at its time.
const fewInGroup = 4

// leastSigma stands for a spread that is nothing: measurements of a simulation without noise.
const leastSigma = 1e-4

// spreadOfPairs is the spread of single measurements of a kind, by those that one round has between the same two switches. Where there
// are few of these, it is at least that of long messages of the same pair there and back.
func (r *measurements) spreadOfPairs(k kind) float64 {
	spread := leastSigma
	if apart := r.apart[k]; len(apart) > 0 {
		spread = max(spread, stats.SigmaOfOne(apart))
	}
	if len(r.apart[k]) < fewAlike && len(r.back) > 0 && !r.w.load {
		spread = max(spread, stats.SigmaOfOne(r.back))
	}
	return spread
}

// clipAt bounds what one sample says, in sigma: an outlier is nobody's fault.
const clipAt = 3

// clip bounds the size of x.
func clip(x, most float64) float64 { return max(-most, min(most, x)) }

// spreadOfHosts is by how much healthy hosts differ from each other, as a share, and the degrees of freedom of that: the
// spread of the mean excess of their samples, those of the second part, too, less what the noise of these makes. Samples that
// touch a place do not count: a slow host would raise the means of all hosts that it met. But they count if fewer than three
// hosts are left, as by a switch that nearly all messages pass. O(samples * length of a route).
func (r *measurements) spreadOfHosts(k kind, except place) (spread, freedom float64) {
	nowhere := place{-1, -1} // no message touches it
	of := make([][]float64, r.w.hosts)
	for i := range r.samples {
		if s := &r.samples[i]; s.kind == k && !r.w.touches(except, s.from, s.to, s.route...) {
			x := clip(s.excess, clipAt*r.sigma[k])
			of[s.from], of[s.to] = append(of[s.from], x), append(of[s.to], x)
		}
	}
	var means []float64
	noise := 0.0
	for _, x := range of {
		if len(x) > 0 {
			means = append(means, stat.Mean(x, nil))
			noise += r.sigma[k] * r.sigma[k] / float64(len(x))
		}
	}
	n := float64(len(means))
	switch {
	case n < 3 && except != nowhere:
		return r.spreadOfHosts(k, nowhere)
	case n < 3:
		return math.Inf(1), 1
	}
	spread, freedom = stats.SigmaAbout(stats.MiddleMedian(means), means), max(2, n/3)
	if n < fewMeans && except != nowhere { // of healthy hosts
		spread, freedom = stat.StdDev(means, nil), n-1
	}
	spread = math.Sqrt(max(0, spread*spread-noise/n/2)) // not all of it, as few means tell their spread badly
	// In the mean of a host is an equal part of each of the n-1 others, so means differ by less than hosts do. And what the
	// slow host is compared with is the mean of n hosts.
	return spread * (n - 1) / (n - 2) * math.Sqrt(1+1/n), freedom
}

const (
	// fewHosts are too few to call healthy where something is slow unless healthy hosts differ as much.
	fewHosts = 10
	// fewMeans are too few for the median of their deviations, which is nearly nothing by chance: their standard deviation
	// counts. Of more a second slow host would spoil that.
	fewMeans = 7
)

// pairsDiffer is by how much pairs of hosts differ in what their measurements take, as a logarithm: by their medians, of the pair
// that nine in ten are faster than, and of the pair that nine in ten are slower than.
func (r *measurements) pairsDiffer(k kind) float64 {
	of := map[[2]int][]float64{}
	for _, s := range r.samples {
		if s.kind == k {
			pair := [2]int{s.from, s.to}
			of[pair] = append(of[pair], math.Log(s.value/s.nominal))
		}
	}
	var medians []float64
	for _, logs := range of {
		medians = append(medians, stats.MiddleMedian(logs))
	}
	if len(medians) == 0 {
		return 0
	}
	slices.Sort(medians)
	return stat.Quantile(0.9, stat.Empirical, medians, nil) - stat.Quantile(0.1, stat.Empirical, medians, nil)
}
