package topology

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A Grouping is a way to tell how many different latencies there are among
// many readings. All give classes without overlap that do not depend on the
// order of the readings.
type Grouping string

// The groupings.
const (
	// GroupByGap cuts the sorted latencies where two neighbours differ beyond
	// tolerance. Bufe 2014, section 4.2, proposes it in place of the rough set
	// of section 2.2.3, whose result depends on the order.
	GroupByGap Grouping = "gap"

	// GroupByKMeans cuts the logarithms where the sum of squares within the
	// classes is least (Wang and Song 2011, Ckmeans.1d.dp); their number is
	// the one of the best Bayesian information criterion.
	GroupByKMeans Grouping = "kmeans"

	// GroupByDensity cuts the logarithms at the valleys of their density.
	GroupByDensity Grouping = "density"
)

func (g Grouping) validate() error {
	switch g {
	case "", GroupByGap, GroupByKMeans, GroupByDensity:
		return nil
	}
	return fmt.Errorf("topology: clique: Grouping %q: want %q, %q or %q", g, GroupByGap, GroupByKMeans, GroupByDensity)
}

// roughly compares latencies with a relative tolerance, as in Bufe 2014,
// equation 1.9, and an absolute one.
type roughly struct{ relative, absolute float64 }

// equal tells whether two latencies differ by at most the tolerance times
// their mean. Infinity equals nothing, itself included: it stands for no link.
func (r roughly) equal(a, b float64) bool {
	d := math.Abs(a - b)
	return d <= r.relative*(a+b)/2+r.absolute && !math.IsInf(a+b, 0)
}

func (r roughly) less(a, b float64) bool { return a < b && !r.equal(a, b) }

// latencyGroups returns the bounds of the classes of sorted latencies: class k
// is sorted[bounds[k]:bounds[k+1]]. Zeros are a class of their own where
// logarithms are taken.
func latencyGroups(sorted []float64, by Grouping, r roughly) []int {
	bounds := []int{0}
	if len(sorted) == 0 {
		return bounds
	}
	zeros := 0
	for zeros < len(sorted) && sorted[zeros] <= 0 {
		zeros++
	}
	logs := make([]float64, len(sorted)-zeros)
	for i := range logs {
		logs[i] = math.Log(sorted[zeros+i])
	}
	var class []int
	switch by {
	default:
		for i := 1; i < len(sorted); i++ {
			if !r.equal(sorted[i-1], sorted[i]) {
				bounds = append(bounds, i)
			}
		}
		return append(bounds, len(sorted))
	case GroupByKMeans:
		class = ckmeans(logs, maxLevels, r.relative/4)
	case GroupByDensity:
		class = stats.Classes(logs, nil, max(0.01, r.relative/4))
	}
	if zeros > 0 && zeros < len(sorted) {
		bounds = append(bounds, zeros)
	}
	for i := 1; i < len(class); i++ {
		if class[i] != class[i-1] {
			bounds = append(bounds, zeros+i)
		}
	}
	return append(bounds, len(sorted))
}

// maxLevels bounds the number of latency classes that are tried.
const maxLevels = 16

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
		// A class costs its mean, its share and its bounds.
		if s := float64(n)*math.Log(variance) + float64(3*k)*math.Log(float64(n)); s < score-1e-9 {
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

// sortedFinite returns the finite values, sorted.
func sortedFinite(values []float64) []float64 {
	kept := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			kept = append(kept, v)
		}
	}
	slices.Sort(kept)
	return kept
}
