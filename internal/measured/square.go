package measured

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Unmeasured returns a matrix of n hosts of which nothing was measured: all cells are NaN.
func Unmeasured(n int) *mat.Dense {
	return mat.NewDense(n, n, slices.Repeat([]float64{math.NaN()}, n*n))
}

// Among returns the cells of some of the hosts, in their order. There is at least one.
func Among(m mat.Matrix, hosts []int) *mat.Dense {
	part := mat.NewDense(len(hosts), len(hosts), nil)
	for i, a := range hosts {
		for j, b := range hosts {
			part.Set(i, j, m.At(a, b))
		}
	}
	return part
}
