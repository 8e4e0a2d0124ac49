package check

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/combin"
)

// Three tests tell what chance makes of measurements: signed ranks of differences, a number of hits against a share, and
// one number of hits against another.

// signedRank is the one-sided test of Wilcoxon 1945, exact for ties, too. It returns the probability that the
// positive ones of n differences have a sum of ranks as large as it is, or larger. Differences are taken to be as
// likely above 0 as as far below. Zeros do not count, nor does NaN. 1 for no differences. O(n^3).
func signedRank(differences []float64) float64 {
	counted := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 || math.IsNaN(x) })
	n, sum := len(counted), 0
	p := make([]float64, n*(n+1)+1) // p[s] is the probability that the ranks so far make s
	p[0] = 1
	for _, x := range counted {
		rank := 1 // twice the rank is a whole number, also where equal ones share the mean of theirs
		for _, other := range counted {
			rank += 1 + cmp.Compare(math.Abs(x), math.Abs(other))
		}
		if x > 0 {
			sum += rank
		}
		for s := len(p) - 1; s >= 0; s-- {
			p[s] /= 2
			if s >= rank {
				p[s] += p[s-rank] / 2
			}
		}
	}
	tail := 0.0
	for s := len(p) - 1; s >= sum; s-- {
		tail += p[s]
	}
	return min(1, tail)
}

// A tally is how many of some measurements are hits: far off, as a fault makes them.
type tally struct{ hits, all int }

func (t *tally) add(isHit bool) {
	t.all++
	if isHit {
		t.hits++
	}
}

// tallyOf counts hits.
func tallyOf[T any](all []T, isHit func(T) bool) (t tally) {
	for _, x := range all {
		t.add(isHit(x))
	}
	return t
}

// share is that of the hits.
func (t tally) share() float64 { return float64(t.hits) / float64(t.all) }

// isSeldom tells whether at most one in four is a hit.
func (t tally) isSeldom() bool { return seldom*t.hits <= t.all }

const seldom = 4

// atLeast is the probability of as many hits or more, if each measurement is one with this share (binomial).
func (t tally) atLeast(share float64) float64 {
	if t.hits == 0 {
		return 1
	}
	return mathext.RegIncBeta(float64(t.hits), float64(t.all-t.hits+1), share)
}

// moreOften is the probability of as many hits or more, if the hits of both tallies fall on all measurements alike: the tail
// of the hypergeometric distribution (Fisher 1922).
func (t tally) moreOften(others tally) float64 {
	choose := func(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
	hits, p := t.hits+others.hits, 0.0
	for k := max(t.hits, hits-others.all); k <= min(t.all, hits); k++ {
		p += math.Exp(choose(t.all, k) + choose(others.all, hits-k) - choose(t.all+others.all, hits))
	}
	return min(1, p)
}
