package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
)

// A deviation says how much two measurements of the same pairs differ, A less B,
// in the unit of their values. It follows Bufe 2014, section 3.2.2, whose sums run
// from i = 0 to n over n values: a slip. |MD| <= MAD <= QMD <= |MAXD|.
type deviation struct {
	Pairs int // cells (from, to) that both have measured

	MD   float64 // mean deviation, (3.1)
	MAD  float64 // mean absolute deviation, (3.2)
	QMD  float64 // quadratic mean deviation, (3.3)
	MAXD float64 // the deviation of the greatest amount, (3.4), with its sign

	From, To int // where MAXD is, the first of equal ones
}

// deviationOf compares two matrices of the same ranks. NaN is not measured, and the
// diagonal is left out. It is an error if they have no cell in common. O(n^2).
func deviationOf(a, b mat.Matrix) (deviation, error) {
	n, columns := a.Dims()
	if rows, more := b.Dims(); n != columns || rows != n || more != n {
		return deviation{}, fmt.Errorf("deviation: %d x %d and %d x %d: want square matrices of one size", n, columns, rows, more)
	}
	var d deviation
	var sum, absolute, squares float64
	for i := range n {
		for j := range n {
			x := a.At(i, j) - b.At(i, j)
			if i == j || math.IsNaN(x) {
				continue
			}
			if d.Pairs++; d.Pairs == 1 || math.Abs(x) > math.Abs(d.MAXD) {
				d.MAXD, d.From, d.To = x, i, j
			}
			sum += x
			absolute += math.Abs(x)
			squares += x * x
		}
	}
	if d.Pairs == 0 {
		return deviation{}, fmt.Errorf("deviation: no pair was measured in both")
	}
	count := float64(d.Pairs)
	d.MD, d.MAD, d.QMD = sum/count, absolute/count, math.Sqrt(squares/count)
	return d, nil
}

// typical is, in s, for each pair (from, to) the median over the repetitions of one
// statistic at one size (an index into Sizes): what a measurement says of a pair as
// one number. NaN is not measured. O(n^2) per repetition.
func typical(r *measure.Result, statistic measure.Statistic, size int) (*mat.Dense, error) {
	repetitions := make([]*mat.Dense, r.Repetitions)
	for k := range repetitions {
		var err error
		if repetitions[k], err = r.Matrix(statistic, k, size); err != nil {
			return nil, err
		}
	}
	found := mat.NewDense(r.Ranks, r.Ranks, nil)
	values := make([]float64, 0, len(repetitions))
	for i := range r.Ranks {
		for j := range r.Ranks {
			values = values[:0]
			for _, m := range repetitions {
				if v := m.At(i, j); !math.IsNaN(v) {
					values = append(values, v)
				}
			}
			v := math.NaN()
			if len(values) > 0 {
				v = stats.MiddleMedian(values)
			}
			found.Set(i, j, v)
		}
	}
	return found, nil
}
