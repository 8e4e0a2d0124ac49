package check

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/stats"
)

// A candidate is tested by differences. Each is the median of what crossed the candidate in one phase of one round, less
// the median of its controls in the same phase. Load that changes between rounds is in both, and is gone from the
// difference. Two tests see two kinds of faults: signed ranks see what is always slow, and the exact test of Fisher sees
// what is slow now and then.

// An effect is how slow something seems to be.
type effect struct {
	place
	candidate int32 // or byItself
	score     float64
	likely    bool // slow, if the few hosts of the machine do not differ by much without a fault: it is not named
	Finding
}

// byItself is what was tested apart from the candidates: of a host that hangs elsewhere, or of two that disturb each other.
const byItself = -1

// A difference compares what crossed a candidate with what did not, at the same time.
type difference struct {
	kind   kind
	group  int
	excess float64   // the median of those that crossed it, less the median of the others
	least  float64   // the same of their lower median: of two one may have met with an accident
	bar    float64   // what it has to be for a fault
	by     crossing  // one of the former
	others []float64 // excesses of the latter, less their median
	doubt  float64   // what it may be without a fault, as nothing like it was measured at that time; 0: something was
	apart  float64   // error of the comparison with others that are not alike, one sigma
	beside float64   // of a rate, the share of the time that the latency of its link makes
	late   float64   // of a rate, what slow latencies may explain
}

// fewControls are transfers under load that are alike from which on others are not needed to compare with.
const fewControls = 2

// differences compare a candidate with its controls, group by group, in the samples from one on. Controls
// are samples of the same group that did not come by its place, if possible of the same length. One difference per group is
// what independence takes: the samples of a group share the load of their time, and their controls.
func (r *measurements) differences(candidate int32, from int) []difference {
	var all []difference
	for i := range r.groups {
		if r.groups[i].first < from {
			continue
		}
		if d, ok := r.difference(candidate, i); ok {
			all = append(all, d)
		}
	}
	return all
}

// difference is that of the samples of a group.
func (r *measurements) difference(candidate int32, group int) (difference, bool) {
	g, at := &r.groups[group], &r.c.all[candidate]
	d := difference{group: group, kind: g.kind}
	var late, near, excesses, weights []float64
	var controls []*sample
	var like *sample
	isAside := func(s *sample) bool { return s.aside != nil && *s.aside != at.place }
	for s, cr := range r.crossed(candidate, g.first, g.last) {
		if !isAside(s) {
			d.by, like, late = *cr, s, append(late, r.lateness(s))
			excesses, weights = append(excesses, s.excess), append(weights, cr.weight)
		}
	}
	for i := g.first; i < g.last && like != nil; i++ {
		s := &r.samples[i]
		if isAside(s) || r.w.touches(at.place, s.from, s.to, s.route...) {
			continue
		}
		controls = append(controls, s)
		if s.like(like) && (s.inner == like.inner || r.w.isHost(at.place)) {
			near = append(near, s.excess)
		}
	}
	if len(controls) == 0 { // of five hosts two pairs meet at a time
		return d, false
	}
	var middle float64
	if len(near) >= fewControls || len(near) > 0 && !r.w.load {
		middle = stats.MiddleMedian(near)
	} else {
		middle = r.loadOn(like, controls)
		for _, s := range controls {
			d.apart += s.doubt / float64(len(controls))
		}
		d.apart = math.Hypot(d.apart, like.doubt)
		if r.w.load {
			d.doubt = math.Log1p(unlike)
		}
	}
	if at.What == linkRate && at.channels != nil && !r.w.load {
		d.beside = 2 * r.w.latency[at.channels[0]] / like.nominal
	}
	d.late = stats.MiddleMedian(late)
	for i, x := range excesses {
		excesses[i] = d.by.likened(x-middle, weights[i])
	}
	d.least, d.excess = stats.LowerMedian(excesses), stats.MiddleMedian(excesses)
	for _, s := range controls {
		d.others = append(d.others, s.excess-middle)
	}
	return d, true
}

// loadOn is what the excesses of some controls have in common, as a sample of another length would show it: their weighted median. Load on
// all links is a part of a sample's time as the links are, so it hardly shows in messages within a host.
func (r *measurements) loadOn(of *sample, controls []*sample) float64 {
	var excesses, weights []float64
	for _, s := range controls {
		cr, wires := crossing{weight: r.wires(of)}, r.wires(s)
		excesses, weights = append(excesses, cr.likened(s.excess, wires)), append(weights, wires*wires)
	}
	stat.SortWeighted(excesses, weights)
	half, i := floats.Sum(weights)/2, 0
	for half -= weights[0]; half > 0; half -= weights[i] {
		i++
	}
	if half == 0 { // between the two in the middle
		return (excesses[i] + excesses[min(i+1, len(excesses)-1)]) / 2
	}
	return excesses[i]
}

// wires is the share of the usual time of a sample that links make; 1 under load and without a graph, where no line was fitted.
func (r *measurements) wires(s *sample) float64 {
	if slope := r.line[s.kind].slope; slope > 0 {
		return min(1, slope*s.nominal/s.usual)
	}
	return 1
}

// unlike is by how much transfers that are shared by other numbers, or over other links, may differ from each other: no
// library and no network share as fairly as the model.
const unlike = 0.5

// measure estimates the factor of a candidate, and tests it, by the second part of the samples. That part had no say
// in that it was picked, so its factor is not too high for having been picked. P-values are corrected by a factor.
func (r *measurements) measure(candidate int32, score, tolerance, level, correction float64) effect {
	e := effect{place: r.c.all[candidate].place, candidate: candidate, score: score, Finding: r.c.all[candidate].Finding}
	all := r.differences(candidate, r.tested[candidate])
	alike := tallyOf(all, func(d difference) bool { return d.doubt == 0 }) // with something that was measured at the same time
	if e.Measurements = len(all); e.Measurements == 0 {
		return e
	}
	// Healthy hosts differ. What few hosts cross is as slow as they are on average.
	k := all[0].kind
	spread, freedom := r.spreadOfHosts(k, e.place)
	sure := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(1 - level/2/float64(r.w.hosts))
	own := sure * spread * r.shareOfHosts(candidate)
	unsure := distuv.UnitNormal.Quantile(1 - level/correction) // of what is usual: all rounds share that error
	var factors, late []float64
	var above, ifEqual []float64 // by how much differences are above the bar, and above what it is if healthy hosts are equal
	for _, d := range all {
		late = append(late, d.late)
	}
	usuallyLate := stats.MiddleMedian(late) // by the candidate itself: other faults are on the routes of few
	for i := range all {
		d := &all[i]
		slower, doubt := max(d.by.shift(max(1+tolerance, (1+tolerance/2)/d.by.full)), d.doubt), unsure*d.apart
		d.bar = max(slower, math.Hypot(own, doubt)) + usuallyLate
		if d.doubt == 0 || 2*alike.hits < alike.all { // where most are alike, the others tell less
			above, ifEqual = append(above, d.excess-d.bar), append(ifEqual, d.excess-max(slower, doubt)-usuallyLate)
			factors = append(factors, d.by.factor(d.excess))
		}
	}
	e.P = signedRank(above)
	e.holds(factors)
	if p, slow := r.sometimes(all, usuallyLate); p < e.P/2 {
		if 2*correction*e.P > level { // or else the test that needs no independent controls is enough
			e.P = p
		}
		// What is far are only the slowest. What is nearer to their factor than to 1 tells of the same.
		far, near := Finding{}, []float64(nil)
		far.holds(slow)
		for _, d := range all {
			if d.by.isNear(d.excess, far.Factor) {
				near = append(near, d.by.factor(d.excess))
			}
		}
		if share := float64(len(near)) / float64(len(all)); share <= 1-1.0/seldom { // or else it is always slow
			e.Often = share
			e.holds(near)
		}
	}
	// The interval carries four more doubts. The candidate makes only a part of the time, and its weight is uncertain, see weigh. So is
	// the slope of the line. What is usual is uncertain where nothing alike was measured at the same time. A link of slow rate may
	// slow the latency in a long message, too.
	apart, beside, least, most := 0.0, 0.0, 0.0, 0.0
	for _, d := range all {
		least += d.by.least / d.by.weight / float64(len(all))
		most += d.by.most / d.by.weight / float64(len(all))
		apart += d.apart * (e.Factor - 1 + 1/d.by.weight) / float64(len(all))
		beside += d.beside / d.by.weight / float64(len(all))
	}
	slope := 0.0
	if r.c.isWire(candidate) {
		slope = r.line[k].doubt
	}
	doubt := math.Hypot(normal95*apart, (e.Factor-1)*math.Hypot(normal95*slope, beside))
	e.Low, e.High = e.Factor-math.Hypot(e.Factor-e.Low, doubt), e.Factor+math.Hypot(e.High-e.Factor, doubt)
	e.Low, e.High = min(e.Low, 1+(e.Low-1)/most), max(e.High, 1+(e.High-1)/least)
	e.P *= 2 // of two tests the better one counts
	if r.w.graph == nil {
		e.P = tallyOf(above, func(x float64) bool { return x > 0 }).atLeast(beyondWiring)
	}
	e.P = min(1, correction*e.P)
	e.likely = r.w.hosts < fewHosts && e.P > level && 2*correction*signedRank(ifEqual) <= level
	return e
}

// beyondWiring is the share of a host's measurements that may take longer without a fault where the
// wiring is not known: half the neighbours of a host at the end of a rack are in the next.
const beyondWiring = 2.0 / 3

// shareOfHosts is how much of the differences between hosts is left in what a candidate's samples have in common: 1 for a
// host, 1/sqrt(n) for what the pairs of n hosts cross alike.
func (r *measurements) shareOfHosts(candidate int32) float64 {
	count, samples := make(map[int]float64), 0.0
	for s := range r.crossed(candidate, r.tested[candidate], len(r.samples)) {
		count[s.from]++
		count[s.to]++
		samples++
	}
	sum := 0.0
	for _, h := range slices.Sorted(maps.Keys(count)) {
		sum += count[h] * count[h] / samples / samples
	}
	return math.Sqrt(sum)
}

// sometimes tests whether a candidate is slow now and then: whether its differences are far above the tolerance more
// often than those of its controls (Fisher 1922, exact). It returns the factors of those that are, too.
func (r *measurements) sometimes(all []difference, usuallyLate float64) (p float64, slow []float64) {
	var through, others tally
	for _, d := range all {
		bar := d.bar + max(0, d.late-usuallyLate) + farAbove*r.sigma[d.kind]
		through.add(d.least > bar)
		if d.least > bar {
			slow = append(slow, d.by.factor(d.excess))
		}
		for _, x := range d.others {
			others.add(x > bar)
		}
	}
	if len(slow) < fewSlow || others.all == 0 {
		return 1, nil
	}
	return through.moreOften(others), slow
}

const (
	farAbove = 4 // spreads above the tolerance are far
	fewSlow  = 4 // measurements of one candidate are more than bad luck
)

// since is the round from which on a candidate is slow, if it was not before: what crossed it is slow more often afterwards
// (Fisher 1922), whichever round it may have begun in (Bonferroni). 0: it is slow from the first, or comes and goes.
func (r *measurements) since(e *effect, level float64) (round int) {
	all := r.differences(e.candidate, 0)
	isSlow := func(d difference) bool { return d.by.isNear(d.excess, e.Factor) }
	isFast := func(d difference) bool { return !isSlow(d) }
	perRound := phases
	if r.w.load {
		perRound = 1
	}
	least := level / float64(len(all))
	for i := fewSlow; i <= len(all)-fewSlow; i++ {
		before, after := all[:i], all[i:]
		if !tallyOf(before, isSlow).isSeldom() || !tallyOf(after, isFast).isSeldom() {
			continue
		}
		if p := tallyOf(after, isSlow).moreOften(tallyOf(before, isSlow)); p < least {
			round, least = all[i].group/perRound+1, p
		}
	}
	return round
}

// holds sets the factor to the median of some factors, and the interval to that of 95 % by order statistics. With fewer than
// six factors the interval is between all of them.
func (f *Finding) holds(factors []float64) {
	f.Factor = stats.MiddleMedian(factors) // which sorts them
	var known bool
	if f.Low, f.High, known = stats.MedianInterval(factors, confidence); !known {
		f.Low, f.High = factors[0], factors[len(factors)-1]
	}
}

const (
	confidence = 0.95
	normal95   = 1.96 // sigma of a normal distribution, within which that many are
)
