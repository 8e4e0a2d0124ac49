package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Float is what the order statistics work on.
type Float interface{ ~float32 | ~float64 }

// Select returns the element of rank k, 0 <= k < len(x), as if x were sorted
// ascending. It reorders x so that no element before k is above x[k] and none
// after it is below. O(len(x)) on average (Hoare 1961, Algorithm 65 FIND).
func Select[F Float](x []F, k int) F {
	lo, hi := 0, len(x)-1
	for lo < hi {
		pivot := median3(x[lo], x[lo+(hi-lo)/2], x[hi])
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for pivot < x[j] {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		// x[lo..j] <= pivot <= x[i..hi], and all between equal the pivot.
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return x[k]
		}
	}
	return x[k]
}

func median3[F Float](a, b, c F) F {
	return max(min(a, b), min(max(a, b), c))
}

// LowerMedian returns the element of rank (len(x)-1)/2, reordering x. It
// panics if x is empty.
func LowerMedian[F Float](x []F) F { return Select(x, (len(x)-1)/2) }

// Quantile returns the element of rank floor(q(len(x)-1)), reordering x, for q
// in [0, 1]. It panics if x is empty.
func Quantile[F Float](x []F, q float64) F { return Select(x, int(q*float64(len(x)-1))) }

// MedianCells returns the lower median of each cell over matrices of one shape. A cell that is NaN in
// all of them stays NaN.
func MedianCells(repetitions []mat.Matrix) *mat.Dense {
	rows, columns := repetitions[0].Dims()
	medians := mat.NewDense(rows, columns, nil)
	values := make([]float64, 0, len(repetitions))
	for i := range rows {
		for j := range columns {
			values = values[:0]
			for _, r := range repetitions {
				if x := r.At(i, j); !math.IsNaN(x) {
					values = append(values, x)
				}
			}
			medians.Set(i, j, Median(values))
		}
	}
	return medians
}

// Smallest returns the places of up to most of the smallest values of x, ascending; ties go to the lowest place. NaN is
// none of them.
func Smallest[F Float](x []F, most int) []int32 {
	list := make([]int32, 0, most+1)
	for j, v := range x {
		if v != v || len(list) == most && (most == 0 || v >= x[list[most-1]]) {
			continue
		}
		at := len(list)
		for at > 0 && v < x[list[at-1]] {
			at--
		}
		list = slices.Insert(list, at, int32(j))
		list = list[:min(most, len(list))]
	}
	return list
}
