package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
)

// A Deviation says how much two measurements of the same pairs differ, A less B,
// in the unit of their values. It follows Bufe 2014, section 3.2.2, whose sums run
// from i = 0 to n over n values: a slip. |MD| <= MAD <= QMD <= |MAXD|.
type Deviation struct {
	Pairs int // cells (from, to) that both have measured

	MD   float64 // mean deviation, (3.1)
	MAD  float64 // mean absolute deviation, (3.2)
	QMD  float64 // quadratic mean deviation, (3.3)
	MAXD float64 // the deviation of the greatest amount, (3.4), with its sign

	From, To int // where MAXD is, the first of equal ones
}

// DeviationOf compares two matrices of the same ranks. NaN is not measured, and the
// diagonal is left out. It is an error if they have no cell in common. O(n^2).
func DeviationOf(a, b mat.Matrix) (Deviation, error) {
	n, columns := a.Dims()
	if rows, more := b.Dims(); n != columns || rows != n || more != n {
		return Deviation{}, fmt.Errorf("measure: deviation: %d x %d and %d x %d: want square matrices of one size", n, columns, rows, more)
	}
	var d Deviation
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
		return Deviation{}, fmt.Errorf("measure: deviation: no pair was measured in both")
	}
	count := float64(d.Pairs)
	d.MD, d.MAD, d.QMD = sum/count, absolute/count, math.Sqrt(squares/count)
	return d, nil
}

// Typical is, in s, for each pair (from, to) the median over the repetitions of one
// statistic at one size (an index into Sizes): what a measurement says of a pair as
// one number. NaN is not measured. O(n^2) per repetition.
func (r *Result) Typical(statistic Statistic, size int) (*mat.Dense, error) {
	repetitions := make([]*mat.Dense, r.Repetitions)
	for k := range repetitions {
		var err error
		if repetitions[k], err = r.Matrix(statistic, k, size); err != nil {
			return nil, err
		}
	}
	typical := mat.NewDense(r.Ranks, r.Ranks, nil)
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
			typical.Set(i, j, v)
		}
	}
	return typical, nil
}

// Confidence of the intervals of PairIntervals.
const Confidence = 0.95

// A PairInterval says what the readings of a pair, of both directions and all
// repetitions, say of its latency.
type PairInterval struct {
	A, B     int     // ranks, A < B
	Readings int     // medians of samples
	Median   float64 // s, of these

	// Low and High are, in s, the limits of an interval in which the median lies
	// with at least the Confidence, by order statistics: whatever the distribution of the
	// readings. NaN: fewer than 6 readings.
	Low, High float64
}

// Precise tells whether the interval is known, and no wider on either side than a share
// of the median.
func (p *PairInterval) Precise(share float64) bool {
	return p.High-p.Median <= share*p.Median && p.Median-p.Low <= share*p.Median
}

// PairIntervals are the intervals of all pairs that were measured at one size (an
// index into Sizes), sorted by A and B. O(readings log readings).
func (r *Result) PairIntervals(size int) []PairInterval {
	type reading struct {
		a, b  int
		value float64
	}
	var all []reading
	for i := range r.readings {
		if x := &r.readings[i]; x.Size == size {
			all = append(all, reading{min(x.From, x.To), max(x.From, x.To), x.Median})
		}
	}
	slices.SortFunc(all, func(p, q reading) int {
		return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b), cmp.Compare(p.value, q.value))
	})
	var found []PairInterval
	var values []float64
	for i, x := range all {
		if values = append(values, x.value); i+1 < len(all) && all[i+1].a == x.a && all[i+1].b == x.b {
			continue
		}
		p := PairInterval{A: x.a, B: x.b, Readings: len(values)}
		p.Low, p.High, _ = stats.MedianInterval(values, Confidence)
		p.Median = stats.MiddleMedian(values)
		found = append(found, p)
		values = values[:0]
	}
	return found
}
