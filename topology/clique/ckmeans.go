package clique

import "math"

// ckmeans returns the classes of sorted values that minimise the sum of squares
// within them, for the number of classes, of at most most, with the best
// Bayesian information criterion under normal classes of equal spread. Spread
// below the given floor explains nothing: exact values would otherwise give a
// class each. It is the dynamic programme of Wang and Song 2011 in the divide
// and conquer form, O(k n log n) per number of classes, all in one pass.
func ckmeans(sorted []float64, most int, floor float64) []int {
	n := len(sorted)
	if n == 0 {
		return nil
	}
	sum, square := make([]float64, n+1), make([]float64, n+1)
	for i, v := range sorted {
		v -= sorted[n/2] // keeps the squares small
		sum[i+1], square[i+1] = sum[i]+v, square[i]+v*v
	}
	cost := func(i, j int) float64 { // of values i..j-1 in one class
		s := sum[j] - sum[i]
		return max(0, square[j]-square[i]-s*s/float64(j-i))
	}
	most = min(most, n)
	best := make([]float64, n+1) // least cost of the first j values in k classes
	for j := 1; j <= n; j++ {
		best[j] = cost(0, j)
	}
	cuts := [][]int32{make([]int32, n+1)} // where the last class begins
	choose, score := 1, math.Inf(1)
	for k := 1; k <= most; k++ {
		if k > 1 {
			next, cut := make([]float64, n+1), make([]int32, n+1)
			var solve func(lo, hi, from, to int)
			solve = func(lo, hi, from, to int) {
				if lo > hi {
					return
				}
				j := (lo + hi) / 2
				at, least := from, math.Inf(1)
				for i := from; i <= min(to, j-1); i++ {
					if c := best[i] + cost(i, j); c < least {
						at, least = i, c
					}
				}
				next[j], cut[j] = least, int32(at)
				solve(lo, j-1, from, at)
				solve(j+1, hi, at, to)
			}
			solve(k, n, k-1, n-1)
			best = next
			cuts = append(cuts, cut)
		}
		variance := max(best[n]/float64(n), floor*floor)
		// A class costs its mean and its share.
		if s := float64(n)*math.Log(variance) + float64(2*k)*math.Log(float64(n)); s < score {
			choose, score = k, s
		}
	}
	class := make([]int, n)
	for k, j := choose-1, n; k >= 0; k-- {
		i := int(cuts[k][j])
		for x := i; x < j; x++ {
			class[x] = k
		}
		j = i
	}
	return class
}
