package fit

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
