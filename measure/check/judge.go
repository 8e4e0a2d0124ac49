package check

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Candidates compete to explain what is slow. The score of a candidate is the matched filter of its effect. The best one
// is taken out of the samples before the next one is looked for. That happens twice: among all candidates, to choose those
// that are measured again, and then among these, to name some.

// score is by how many standard deviations the samples before one are slow in proportion to how much of a candidate they
// crossed: the matched filter for a candidate that is slow and alone, of samples that are clipped. It is 0 for one that is
// crossed too seldom.
func (r *measurements) score(candidate int32, before int) float64 {
	sum, squares, count := 0.0, 0.0, 0
	for s, cr := range r.crossed(candidate, 0, before) {
		pull := cr.pull()
		sum += pull * clip(s.excess/r.sigma[s.kind], clipAt)
		squares += pull * pull
		count++
	}
	if count < fewCrossings || squares == 0 {
		return 0
	}
	return sum / math.Sqrt(squares)
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

// isNear tells whether a sample's excess is nearer to what a factor makes of it than to nothing.
func (cr *crossing) isNear(excess, factor float64) bool { return 2*excess > cr.shift(factor) }

// likened is the excess of a sample as it would be if it crossed the candidate as this one did, and not with another weight.
func (cr *crossing) likened(excess, weight float64) float64 {
	if excess < 0 { // noise
		return excess * cr.weight / weight
	}
	return math.Log1p(cr.weight * math.Expm1(excess) / weight)
}

// estimate is the factor of a candidate by all samples: the median of those that single samples ask for, weighted by
// what each tells.
func (r *measurements) estimate(candidate int32) float64 {
	var factors, weights []float64
	for s, cr := range r.ofAll(candidate) {
		pull := cr.pull()
		factors, weights = append(factors, cr.factor(s.excess)), append(weights, pull*pull)
	}
	if len(factors) == 0 {
		return 1
	}
	stat.SortWeighted(factors, weights)
	return stat.Quantile(0.5, stat.Empirical, factors, weights)
}

// explain takes out of the samples that cross a candidate what its factor makes of them. If it is slow now and then, those
// are explained that are nearer to its factor than to 1.
func (r *measurements) explain(candidate int32, factor float64, always bool) {
	for s, cr := range r.ofAll(candidate) {
		if always || cr.isNear(s.excess, factor) {
			s.excess -= cr.shift(factor)
		}
	}
}

// rivals of a candidate have at least this share of its score: a cable and the one link over which a machine routes nearly all
// that comes to it.
const rivals = 0.6

// likely picks the candidates that explain the first part best, one after the other, each
// by what those before leave (matching pursuit; Mallat and Zhang 1993), and with each its rivals. The
// excesses are as before when it returns. Candidates that were picked before are left out.
func (r *measurements) likely(before []int32, most int) (found []int32) {
	samples := slices.Clone(r.samples)
	for len(found) < most {
		scores := make([]float64, len(r.c.all))
		for c := range scores {
			scores[c] = r.score(int32(c), r.screened)
		}
		for _, c := range slices.Concat(before, found) {
			scores[c] = 0
		}
		best := int32(floats.MaxIdx(scores))
		if scores[best] <= 0 {
			break
		}
		found = append(found, best)
		for c, x := range scores {
			if len(found) < most && int32(c) != best && x > rivals*scores[best] {
				found = append(found, int32(c))
			}
		}
		if factor := r.estimate(best); factor > 1 {
			r.explain(best, factor, true)
		}
	}
	copy(r.samples, samples)
	return found
}

// likelySometimes picks the places of which the most samples are far from usual for their number (binomial): what comes and
// goes moves no mean, but shows in all that is measured of a place. Of each it is the candidate with most of these samples.
// Places that were picked before are left out.
func (r *measurements) likelySometimes(before []int32, most int) (found []int32) {
	type pick struct {
		candidate int32 // with most samples that are far
		most      int   // of them
		far       tally // of all candidates of its place
	}
	at := map[place]*pick{}
	isFar := func(s *sample) bool { return s.excess > farAbove*r.sigma[s.kind] }
	for c := range r.c.all {
		x := cmp.Or(at[r.c.all[c].place], &pick{candidate: int32(c)})
		at[r.c.all[c].place] = x
		before := x.far.hits
		for s := range r.ofAll(int32(c)) {
			x.far.add(isFar(s))
		}
		if far := x.far.hits - before; far > x.most {
			x.candidate, x.most = int32(c), far
		}
	}
	for _, c := range before {
		delete(at, r.c.all[c].place)
	}
	usual := tallyOf(r.samples, func(s sample) bool { return isFar(&s) })
	usual.add(true)
	chance := func(x *pick) float64 { return x.far.atLeast(usual.share()) }
	picks := slices.SortedFunc(maps.Values(at), func(a, b *pick) int {
		return cmp.Or(cmp.Compare(chance(a), chance(b)), cmp.Compare(a.candidate, b.candidate))
	})
	for _, x := range picks {
		if len(found) < most && chance(x) < 1 {
			found = append(found, x.candidate)
		}
	}
	return found
}

// judge ranks targets by all samples, the one that explains most first, and what that leaves for
// the next. Each is tested by the samples of the second part, which had no say in that it was
// picked. The number of targets is corrected for, see correction; that of hosts and links
// thus needs not be.
func (r *measurements) judge(targets []int32, tolerance, level float64) []effect {
	var named, rest []effect
	left := slices.Clone(targets)
	for len(left) > 0 {
		var scores []float64
		for _, c := range left {
			scores = append(scores, r.score(c, len(r.samples)))
		}
		best := floats.MaxIdx(scores)
		for i, c := range left { // a score tells the place best, as it is clipped, and not what is slow there
			if r.tellAlike(c, left[best]) && 2*r.unexplained(c) < r.unexplained(left[best]) {
				best = i
			}
		}
		e := r.measure(left[best], scores[best], tolerance, level, r.correction(slices.Index(targets, left[best]), len(targets)))
		left = slices.Delete(left, best, best+1)
		if e.P <= level {
			e.Since = r.since(&e, level)
			named = append(named, e)
			switch {
			case e.Often < 1:
				r.explain(e.candidate, e.Factor, false)
				r.setAside(e.place)
			case r.w.load && r.c.isWire(e.candidate):
				r.replay(e.candidate, e.Factor)
			default:
				r.explain(e.candidate, e.Factor, true)
			}
		} else {
			rest = append(rest, e)
		}
	}
	slices.SortStableFunc(rest, func(a, b effect) int { return cmp.Compare(a.P, b.P) })
	return append(named, rest...)
}

// tellAlike tells whether two candidates of one host are told by the same samples: its short messages by themselves, or by its cable.
func (r *measurements) tellAlike(a, b int32) bool {
	x, y := &r.c.all[a], &r.c.all[b]
	return x.place == y.place && x.isShort() && y.isShort()
}

// unexplained is how much of the excesses of what crossed a candidate its factor does not explain.
func (r *measurements) unexplained(candidate int32) float64 {
	factor, rest := r.estimate(candidate), []float64(nil)
	for s, cr := range r.ofAll(candidate) {
		rest = append(rest, s.excess-cr.shift(factor))
	}
	return misfit(rest)
}

// setAside keeps what touches a place out of the tests of others: a part of it is slow, and nobody knows exactly which one.
func (r *measurements) setAside(at place) {
	for i := range r.samples {
		if s := &r.samples[i]; r.w.touches(at, s.from, s.to, s.route...) {
			s.aside = &at
		}
	}
}

// correction is the factor that the p-value of one of n targets is corrected by (Bonferroni). Under load the first target of
// the screening gets the largest share of the false alarms. The next one gets half of that, the third one a third (weighted
// Bonferroni; Genovese, Roeder, Wasserman 2006). Of a quiet machine all shares are equal: what comes first there may be hosts
// that only differ.
func (r *measurements) correction(rank, n int) float64 {
	if !r.w.load {
		return float64(n)
	}
	shares := 0.0
	for k := range n {
		shares += 1 / float64(k+1)
	}
	return shares * float64(rank+1)
}
