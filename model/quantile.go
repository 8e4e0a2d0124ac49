package model

import (
	"slices"

	"gonum.org/v1/gonum/stat"
)

// quantile is the p-quantile of unsorted values, at least one.
func quantile(x []float64, p float64) float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return stat.Quantile(p, stat.LinInterp, sorted, nil)
}

// evenMedian is the median of unsorted values, of an even number of them the
// mean of the two in the middle: the lower one of two has a spread of 0.
func evenMedian(x []float64) float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return (sorted[(len(x)-1)/2] + sorted[len(x)/2]) / 2
}
