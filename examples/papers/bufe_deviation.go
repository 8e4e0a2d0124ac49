package main

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A deviation says how much two measurements of the same pairs differ, A less B,
// in the unit of their values. It follows Bufe 2014, section 3.2.2, whose sums run
// from i = 0 to n over n values: a slip. |MD| <= MAD <= QMD <= |MAXD|.
type deviation [4]float64

const (
	md   = iota // mean deviation, (3.1)
	mad         // mean absolute deviation, (3.2)
	qmd         // quadratic mean deviation, (3.3)
	maxd        // the first deviation of the greatest amount, (3.4), with its sign
)

// deviationNames are their names, in this order.
func deviationNames() []string { return []string{"MD", "MAD", "QMD", "MAXD"} }

// deviationOf compares two matrices of the same ranks. The diagonal and NaN, which was not measured, are left out; without a
// common cell all is NaN. O(n^2).
func deviationOf(a, b mat.Matrix) deviation {
	n, _ := a.Dims()
	var count, sum, absolute, squares float64
	most := math.NaN()
	for i := range n {
		for j := range n {
			x := a.At(i, j) - b.At(i, j)
			if i == j || math.IsNaN(x) {
				continue
			}
			count++
			sum += x
			absolute += math.Abs(x)
			squares += x * x
			if !(math.Abs(x) <= math.Abs(most)) {
				most = x
			}
		}
	}
	return deviation{md: sum / count, mad: absolute / count, qmd: math.Sqrt(squares / count), maxd: most}
}
