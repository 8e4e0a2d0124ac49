package check

import (
	"cmp"
	"math"
	"slices"
)

// signedRank is the one-sided test of Wilcoxon 1945, exact for ties, too. It returns the probability that the
// positive ones of n differences have a sum of ranks as large as it is, or larger. Differences are taken to be as
// likely above 0 as as far below. Zeros do not count, nor does NaN. 1 for no differences. O(n^3).
func signedRank(differences []float64) float64 {
	d := make([]float64, 0, len(differences))
	for _, x := range differences {
		if x != 0 && !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	n := len(d)
	if n == 0 {
		return 1
	}
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	// Twice the ranks are whole numbers, also where equal ones share the mean of theirs.
	ranks, sum := make([]int, n), 0
	for i := 0; i < n; {
		j := i
		for j < n && math.Abs(d[j]) == math.Abs(d[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + j + 1
			if d[k] > 0 {
				sum += ranks[k]
			}
		}
		i = j
	}
	// p[s] is the probability that the ranks so far make s.
	p, total := make([]float64, n*(n+1)+1), 0
	p[0] = 1
	for _, r := range ranks {
		total += r
		for s := total; s >= 0; s-- {
			p[s] /= 2
			if s >= r {
				p[s] += p[s-r] / 2
			}
		}
	}
	tail := 0.0
	for s := len(p) - 1; s >= sum; s-- {
		tail += p[s]
	}
	return min(1, tail)
}
