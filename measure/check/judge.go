package check

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/stats"
)

// score is by how many standard deviations the samples in [from, to) are slow in
// proportion to how much of each candidate they crossed: the matched filter for a candidate that is
// slow and alone, of samples that are clipped. It is 0 for those crossed too seldom.
func (r *readings) score(from, to int) []float64 {
	sum, squares := make([]float64, r.c.size), make([]float64, r.c.size)
	count := make([]int32, r.c.size)
	for i := from; i < to; i++ {
		s := &r.samples[i]
		x := clip(s.excess/r.sigma[s.kind]) - r.mean[s.kind]
		for _, cr := range r.crossings[s.first:s.last] {
			sum[cr.candidate] += cr.pull * x
			squares[cr.candidate] += cr.pull * cr.pull * r.variance[s.kind]
			count[cr.candidate]++
		}
	}
	for c := range sum {
		if count[c] < fewCrossings || squares[c] == 0 {
			sum[c] = 0
			continue
		}
		sum[c] /= math.Sqrt(squares[c])
	}
	return sum
}

// fewCrossings is from how many samples a candidate is looked at: of one or two an outlier
// makes a suspect.
const fewCrossings = 3

// shift is by how much the logarithm of a sample grows when the candidate that it crossed takes
// factor times as long.
func (cr *crossing) shift(factor float64) float64 {
	return math.Log1p(cr.weight * (max(1, factor*cr.full) - 1))
}

// factor is the one that explains a sample's excess.
func (cr *crossing) factor(excess float64) float64 {
	return (math.Expm1(excess)/cr.weight + 1) / cr.full
}

// crossed calls visit with the samples in [from, to) that crossed a candidate.
func (r *readings) crossed(candidate int32, from, to int, visit func(s *sample, cr *crossing)) {
	for i := from; i < to; i++ {
		s := &r.samples[i]
		for k := s.first; k < s.last; k++ {
			if cr := &r.crossings[k]; cr.candidate == candidate {
				visit(s, cr)
			}
		}
	}
}

// An effect is how slow a candidate seems to be.
type effect struct {
	candidate         int32
	score             float64
	factor, low, high float64 // with an interval of 95 %
	p                 float64 // that one which is slow within the tolerance only looks so; without a graph NaN
	often             float64 // the share of the measurements that are slow; 1: all
	samples           int     // groups that it was compared in
}

// A difference compares what crossed a candidate with what did not, at the same time.
type difference struct {
	excess float64   // the median of those that crossed it, less that of the others
	by     crossing  // one of the former, under the load of that time
	others []float64 // excesses of the latter, less their median
}

const (
	fewControls = 2 // samples of the same length from which on others are not needed to compare with
	anyControls = 1 // samples to compare with at all: of five hosts two pairs meet at a time
)

// differences compare a candidate with its controls, group by group, in the second part of the samples. Controls
// are samples of the same group that did not cross it, if possible of the same length. One difference per group is
// what independence takes: the samples of a group share the load of their time, and their controls.
func (r *readings) differences(candidate int32) []difference {
	groups := make(map[int32][]int)
	for i := r.screened; i < len(r.samples); i++ {
		g := r.samples[i].group
		groups[g] = append(groups[g], i)
	}
	var all []difference
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		if d, ok := r.difference(candidate, groups[g]); ok {
			all = append(all, d)
		}
	}
	return all
}

// difference is that of the samples of a group.
func (r *readings) difference(candidate int32, group []int) (difference, bool) {
	var d difference
	var through, near, others []float64
	nominal, usual, of := math.NaN(), 0.0, ofLatency
	for _, i := range group {
		s := &r.samples[i]
		if cr := r.crossingOf(s, candidate); cr != nil {
			through = append(through, s.excess)
			d.by, nominal, usual, of = *cr, s.nominal, s.usual, s.kind
		}
	}
	if len(through) == 0 {
		return d, false
	}
	for _, i := range group {
		s := &r.samples[i]
		if r.crossingOf(s, candidate) != nil {
			continue
		}
		others = append(others, r.asLongAs(s, usual))
		if math.Abs(s.nominal-nominal) <= gapAlike*nominal {
			near = append(near, s.excess)
		}
	}
	if len(near) >= fewControls {
		others = near
	}
	if len(others) < anyControls {
		return d, false
	}
	middle := stats.MiddleMedian(others)
	d.excess = stats.MiddleMedian(through) - middle
	if fixed := min(r.line[of].fixed, usual); fixed > 0 && usual > fixed { // of a longer time a link makes more
		if load := math.Exp(middle)*usual - fixed; load > 0 {
			d.by.weight = min(1, d.by.weight*load/(usual-fixed)/math.Exp(middle))
		}
	}
	for i := range others {
		others[i] -= middle
	}
	d.others = others
	return d, true
}

// asLongAs is the excess that a sample's load would make of a measurement that usually takes another time: load makes
// links slower, and not the overheads at the ends of messages.
func (r *readings) asLongAs(s *sample, usual float64) float64 {
	fixed := min(r.line[s.kind].fixed, usual, s.usual)
	if fixed <= 0 || s.usual == fixed {
		return s.excess
	}
	load := (s.usual*math.Exp(s.excess) - fixed) / (s.usual - fixed)
	return math.Log(max(fixed+load*(usual-fixed), fixed/2) / usual)
}

// crossingOf is how a sample depends on a candidate; nil: not at all.
func (r *readings) crossingOf(s *sample, candidate int32) *crossing {
	for k := s.first; k < s.last; k++ {
		if r.crossings[k].candidate == candidate {
			return &r.crossings[k]
		}
	}
	return nil
}

// measure estimates the factor of a candidate, and tests it, by the second part of the samples. That part had no say
// in that it was picked, so its factor is not too high for having been picked.
func (r *readings) measure(candidate int32, score, tolerance, level float64) effect {
	e := effect{candidate: candidate, score: score, p: 1, often: 1}
	all := r.differences(candidate)
	if e.samples = len(all); e.samples == 0 {
		return e
	}
	// Healthy hosts differ. What few hosts cross is as slow as they are on average.
	k := ofRate
	if f, _ := r.c.what(candidate); f == slowLatency || f == slowAnswer {
		k = ofLatency
	}
	sure := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(max(2, r.w.hosts/3))}.Quantile(1 - level/2/float64(r.w.hosts))
	own := sure * r.hosts[k] * r.shareOfHosts(candidate)
	var factors, tests []float64
	for _, d := range all {
		bar := max(d.by.shift(1+tolerance), own)
		tests = append(tests, d.excess-bar)
		factors = append(factors, d.by.factor(d.excess))
	}
	e.p = signedRank(tests)
	slices.Sort(factors)
	e.factor, e.low, e.high = medianWithInterval(factors)
	if p, slow := r.sometimes(all, tests); p < e.p/2 {
		e.p, e.often = p, float64(len(slow))/float64(len(all))
		slices.Sort(slow)
		e.factor, e.low, e.high = medianWithInterval(slow)
	}
	if f, _ := r.c.what(candidate); f < slowAnswer { // how much of the time the link makes is in doubt, too
		doubt := normal95 * r.slopeDoubt[k] * (e.factor - 1)
		e.low, e.high = e.factor-math.Hypot(e.factor-e.low, doubt), e.factor+math.Hypot(e.high-e.factor, doubt)
	}
	e.p = min(1, 2*e.p) // of two tests the better one counts
	if r.w.graph == nil {
		e.p = mostPositive(tests)
	}
	return e
}

// shareOfHosts is how much of the differences between hosts is left in what a candidate's samples have in common: 1 for a
// host, 1/sqrt(n) for what the pairs of n hosts cross alike.
func (r *readings) shareOfHosts(candidate int32) float64 {
	count, samples := make(map[int]float64), 0.0
	r.crossed(candidate, r.screened, len(r.samples), func(s *sample, _ *crossing) {
		count[s.from]++
		count[s.to]++
		samples++
	})
	sum := 0.0
	for _, h := range slices.Sorted(maps.Keys(count)) {
		sum += count[h] * count[h] / samples / samples
	}
	return math.Sqrt(sum)
}

// sometimes tests whether a candidate is slow now and then: whether its differences are far above the tolerance more
// often than those of its controls (Fisher 1922, exact). It returns the factors of those that are, too.
func (r *readings) sometimes(all []difference, tests []float64) (p float64, slow []float64) {
	controls, above := 0, 0
	for i, d := range all {
		far := farAbove * r.sigma[ofLatency]
		if f, _ := r.c.what(d.by.candidate); f != slowLatency && f != slowAnswer {
			far = farAbove * r.sigma[ofRate]
		}
		bar := d.excess - tests[i] + far
		if d.excess > bar {
			slow = append(slow, d.by.factor(d.excess))
		}
		for _, x := range d.others {
			controls++
			if x > bar {
				above++
			}
		}
	}
	if len(slow) < fewSlow || controls == 0 {
		return 1, nil
	}
	return moreOften(len(slow), len(all), above, controls), slow
}

const (
	farAbove = 4 // spreads above the tolerance are far
	fewSlow  = 4 // measurements of one candidate are more than bad luck
)

// moreOften is the probability that a of n are hits, or more, if b of m others are and hits fall on all alike: the tail
// of the hypergeometric distribution (Fisher 1922).
func moreOften(a, n, b, m int) float64 {
	choose := func(n, k int) float64 {
		x, _ := math.Lgamma(float64(n + 1))
		y, _ := math.Lgamma(float64(k + 1))
		z, _ := math.Lgamma(float64(n - k + 1))
		return x - y - z
	}
	hits, p := a+b, 0.0
	for k := a; k <= min(n, hits); k++ {
		if hits-k <= m {
			p += math.Exp(choose(n, k) + choose(m, hits-k) - choose(n+m, hits))
		}
	}
	return min(1, p)
}

// medianWithInterval is the median of sorted values, and between which the true one is with 95 %, by order statistics.
// With fewer than six values that is between all of them.
func medianWithInterval(x []float64) (middle, low, high float64) {
	low, high, ok := stats.MedianInterval(x, confidence)
	if !ok {
		low, high = x[0], x[len(x)-1]
	}
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2, low, high
}

const (
	confidence = 0.95
	normal95   = 1.96 // sigma of a normal distribution, within which that many are
)

// estimate is the factor of a candidate by all samples: the median of those that single samples ask for, weighted by
// what each tells.
func (r *readings) estimate(candidate int32) float64 {
	type vote struct{ factor, weight float64 }
	var votes []vote
	total := 0.0
	r.crossed(candidate, 0, len(r.samples), func(s *sample, cr *crossing) {
		w := cr.pull * cr.pull
		votes = append(votes, vote{cr.factor(s.excess), w})
		total += w
	})
	slices.SortFunc(votes, func(a, b vote) int { return cmp.Compare(a.factor, b.factor) })
	sum := 0.0
	for _, v := range votes {
		if sum += v.weight; sum >= total/2 {
			return v.factor
		}
	}
	return 1
}

// beyondWiring is the share of a host's readings that may take longer without a fault where the
// wiring is not known: half the neighbours of a host at the end of a rack are in the next.
const beyondWiring = 2.0 / 3

// mostPositive is the probability that as many of the differences are positive, or more, if
// beyondWiring of them are by chance (binomial).
func mostPositive(d []float64) float64 {
	k := 0
	for _, x := range d {
		if x > 0 {
			k++
		}
	}
	if k == 0 {
		return 1
	}
	return mathext.RegIncBeta(float64(k), float64(len(d)-k+1), beyondWiring)
}

// explain takes out of the samples what a candidate of the given factor makes of them.
func (r *readings) explain(candidate int32, factor float64) {
	r.crossed(candidate, 0, len(r.samples), func(s *sample, cr *crossing) { s.excess -= cr.shift(factor) })
}

// explainSome does that for a candidate that is slow now and then: of the samples that cross it, those are explained that
// are nearer to its factor than to 1.
func (r *readings) explainSome(candidate int32, factor float64) {
	r.crossed(candidate, 0, len(r.samples), func(s *sample, cr *crossing) {
		if shift := cr.shift(factor); 2*s.excess > shift {
			s.excess -= shift
		}
	})
}

// rivals of a candidate have at least this share of its score, and share half of its samples: a cable
// and the one link over which a machine routes nearly all that comes to it.
const rivals = 0.6

// likely picks the candidates that explain the first part best, one after the other, each
// by what those before leave (matching pursuit; Mallat and Zhang 1993), and with each its rivals. The excesses are
// as before when it returns.
func (r *readings) likely(most int) []int32 {
	found := r.likelySometimes(most / 4)
	before := make([]float64, len(r.samples))
	for i := range r.samples {
		before[i] = r.samples[i].excess
	}
	for len(found) < most {
		scores := r.score(0, r.screened)
		best := int32(-1)
		for c, x := range scores {
			if x > 0 && (best < 0 || x > scores[best]) && !slices.Contains(found, int32(c)) {
				best = int32(c)
			}
		}
		if best < 0 {
			break
		}
		found = append(found, best)
		for _, rival := range r.overlapping(best) {
			if len(found) < most && scores[rival] > rivals*scores[best] && !slices.Contains(found, rival) {
				found = append(found, rival)
			}
		}
		if factor := r.estimate(best); factor > 1 {
			r.explain(best, factor)
		}
	}
	for i := range r.samples {
		r.samples[i].excess = before[i]
	}
	return found
}

// likelySometimes picks the candidates of which the most samples of the first part are far from usual for their number
// (binomial): what comes and goes moves no mean.
func (r *readings) likelySometimes(most int) []int32 {
	hits, count := make([]int, r.c.size), make([]int, r.c.size)
	all := 0
	for i := range r.screened {
		s := &r.samples[i]
		far := s.excess > farAbove*r.sigma[s.kind]
		if far {
			all++
		}
		for _, cr := range r.crossings[s.first:s.last] {
			count[cr.candidate]++
			if far {
				hits[cr.candidate]++
			}
		}
	}
	type pick struct {
		candidate int32
		p         float64
	}
	var picks []pick
	share := (float64(all) + 1) / (float64(r.screened) + 1)
	for c, k := range hits {
		if k >= 2 && k < count[c] {
			picks = append(picks, pick{int32(c), mathext.RegIncBeta(float64(k), float64(count[c]-k+1), share)})
		}
	}
	slices.SortStableFunc(picks, func(a, b pick) int { return cmp.Compare(a.p, b.p) })
	var found []int32
	for _, x := range picks[:min(most, len(picks))] {
		found = append(found, x.candidate)
	}
	return found
}

// judge ranks targets by all samples, the one that explains most first, and what that leaves for
// the next. Each is tested by the samples of the second part, which had no say in that it was
// picked; the number of targets is corrected for (Bonferroni), that of hosts and links
// thus needs not be.
func (r *readings) judge(targets []int32, tolerance, level float64) []effect {
	var named, rest []effect
	left := slices.Clone(targets)
	for len(left) > 0 {
		scores := r.score(0, len(r.samples))
		best := 0
		for i, c := range left {
			if scores[c] > scores[left[best]] {
				best = i
			}
		}
		e := r.measure(left[best], scores[left[best]], tolerance, level)
		left = slices.Delete(left, best, best+1)
		e.p = min(1, e.p*float64(len(targets)))
		if e.p <= level {
			named = append(named, e)
			if e.often == 1 {
				r.explain(e.candidate, e.factor)
			} else {
				r.explainSome(e.candidate, e.factor)
			}
		} else {
			rest = append(rest, e)
		}
	}
	sort.SliceStable(rest, func(i, j int) bool { return rest[i].p < rest[j].p })
	return append(named, rest...)
}
