package topology

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"gonum.org/v1/gonum/mat"
)

// cells are directed readings, one per ordered pair of hosts, as the methods
// take them that do not assume nested groups.
type cells struct {
	n        int
	m        []float64 // n*n row-major, s, at least 0; NaN: not measured; the diagonal is 0
	noise    float64   // relative standard deviation of one reading, from repetitions; NaN of one
	negative int       // cells below zero, which became zero
}

// manyRepetitions are enough to spare one: the second smallest of five is still below the
// middle, and a clock that slips once in them decides nothing. As in combine; from four
// to fifteen nothing changes in the tests, with two noise that is not taken off does.
const manyRepetitions = 5

// newCells combines repetitions cell by cell: the smallest, of five and more
// the second smallest. Noise only adds, but a clock may slip.
func newCells(method string, repetitions []mat.Matrix) (*cells, error) {
	if len(repetitions) == 0 {
		return nil, fmt.Errorf("topology: %s: no matrix given", method)
	}
	n, _ := repetitions[0].Dims()
	reps := make([][]float64, len(repetitions))
	for k, m := range repetitions {
		rows, columns := m.Dims()
		if rows != n || columns != n {
			return nil, fmt.Errorf("topology: %s: matrix %d is %d x %d: want square and as the first, %d x %d", method, k, rows, columns, n, n)
		}
		reps[k] = make([]float64, n*n)
		for i := range n {
			for j := range n {
				v := m.At(i, j)
				if math.Abs(v) > math.MaxFloat32 && i != j { // no latency, and its square is not finite
					return nil, fmt.Errorf("topology: %s: latency from host %d to %d is %g s: want at most %g, or NaN", method, i, j, v, math.MaxFloat32)
				}
				reps[k][i*n+j] = v
			}
		}
	}
	c := &cells{n: n, m: make([]float64, n*n), noise: math.NaN()}
	values := make([]float64, 0, len(reps))
	var spreads []float64
	for i := range c.m {
		if i%(n+1) == 0 {
			continue
		}
		values = values[:0]
		for _, r := range reps {
			if v := r[i]; !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if len(values) >= 2 && values[0] > 0 && values[1] > 0 {
			spreads = append(spreads, math.Abs(math.Log(values[0])-math.Log(values[1])))
		}
		slices.Sort(values)
		switch {
		case len(values) == 0:
			c.m[i] = math.NaN()
		case len(values) >= manyRepetitions:
			c.m[i] = values[1]
		default:
			c.m[i] = values[0]
		}
		if c.m[i] < 0 {
			c.negative++
			c.m[i] = 0
		}
	}
	if len(spreads) > 0 {
		// The difference of two readings spreads sqrt 2 times as much as one.
		c.noise = stats.SigmaPerMAD * stats.LowerMedian(spreads) / math.Sqrt2
	}
	return c, nil
}

// symmetric is the matrix of the smaller, or only, reading of both directions.
func (c *cells) symmetric() []float64 {
	s := slices.Clone(c.m)
	for i := range c.n {
		for j := range i {
			a, b := c.m[i*c.n+j], c.m[j*c.n+i]
			if b < a || math.IsNaN(a) {
				a = b
			}
			s[i*c.n+j], s[j*c.n+i] = a, a
		}
	}
	return s
}

// liftZeros replaces zeros off the diagonal, which would make vertices stand in
// for each other, with half the smallest value above zero, if there is one.
func liftZeros(m []float64, n int) {
	least := math.Inf(1)
	for _, v := range m {
		if v > 0 && v < least {
			least = v
		}
	}
	if math.IsInf(least, 1) {
		return
	}
	for i, v := range m {
		if v == 0 && i%(n+1) != 0 {
			m[i] = least / 2
		}
	}
}

// asymmetric counts the pairs whose directions differ by more than the ratio,
// and names the worst.
func (c *cells) asymmetric(ratio float64) (count, from, to int) {
	worst := ratio
	for i := range c.n {
		for j := range c.n {
			a, b := c.m[i*c.n+j], c.m[j*c.n+i]
			if a > ratio*b {
				count++
				if b > 0 && a/b > worst {
					worst, from, to = a/b, i, j
				}
			}
		}
	}
	return count, from, to
}

// warnings names what is weak in the readings.
func (c *cells) warnings() []string {
	var w []string
	if c.negative > 0 {
		w = append(w, fmt.Sprintf("%d readings are below zero and were taken as zero", c.negative))
	}
	missing := 0
	for _, v := range c.m {
		if math.IsNaN(v) {
			missing++
		}
	}
	if missing > 0 {
		w = append(w, fmt.Sprintf("%d of %d readings were not measured", missing, c.n*(c.n-1)))
	}
	return w
}
