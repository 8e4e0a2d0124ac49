package cluster

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
)

// NewDistances copies a square matrix. The distance of a pair is the mean of
// its two cells, or the one that is not NaN. The diagonal is not read. It
// refuses matrices that are not square, negative and infinite cells, and pairs
// without a value. O(n^2).
func NewDistances(m mat.Matrix) (mat.Symmetric, error) {
	n, cols := m.Dims()
	if n != cols {
		return nil, fmt.Errorf("cluster: distances: %d x %d matrix: want a square one", n, cols)
	}
	return newDistances(n, m.At, false)
}

// distances is a symmetric matrix whose rows lie in one piece, as the methods walk through them. Its diagonal is 0.
type distances struct {
	n int
	d []float64 // row by row
}

var _ mat.Symmetric = (*distances)(nil)

func (d *distances) Dims() (rows, columns int) { return d.n, d.n }
func (d *distances) SymmetricDim() int         { return d.n }
func (d *distances) At(i, j int) float64       { return d.d[i*d.n+j] }
func (d *distances) T() mat.Matrix             { return d }

// newDistances makes a matrix of the cells at (i, j), as NewDistances does; with gaps, NaN where a pair has no value.
func newDistances(n int, at func(i, j int) float64, gaps bool) (*distances, error) {
	d := &distances{n: n, d: make([]float64, n*n)}
	for i := range n {
		for j := range i {
			a, b := at(i, j), at(j, i)
			v := (a + b) / 2
			if math.IsNaN(a) {
				v = b
			} else if math.IsNaN(b) {
				v = a
			}
			if math.IsNaN(v) && !gaps {
				return nil, fmt.Errorf("cluster: distances: that of hosts %d and %d is not known: want one of every pair", j, i)
			}
			if !(a >= 0 || math.IsNaN(a)) || !(b >= 0 || math.IsNaN(b)) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("cluster: distances: cells (%d,%d) and (%d,%d) are %g and %g: want a finite distance of at least 0", i, j, j, i, a, b)
			}
			d.d[i*n+j], d.d[j*n+i] = v, v
		}
	}
	return d, nil
}

// rowsOf are distances for a method to walk through; those of others are copied.
func rowsOf(s mat.Symmetric) *distances {
	if d, ok := s.(*distances); ok {
		return d
	}
	n := s.SymmetricDim()
	d := &distances{n: n, d: make([]float64, n*n)}
	for i := range n {
		for j := range n {
			if i != j {
				d.d[i*n+j] = s.At(i, j)
			}
		}
	}
	return d
}

// row is the distances of one object.
func (d *distances) row(i int) []float64 { return d.d[i*d.n : (i+1)*d.n] }

// part is the distances among some of the objects.
func (d *distances) part(members []int) *distances {
	p := &distances{n: len(members), d: make([]float64, len(members)*len(members))}
	for a, i := range members {
		for b, j := range members {
			p.d[a*p.n+b] = d.At(i, j)
		}
	}
	return p
}

// kth returns each object's distance to its k-th nearest other, k >= 1; to the
// farthest where there are fewer. O(n^2) on average.
func (d *distances) kth(k int) []float64 {
	out := make([]float64, d.n)
	if d.n < 2 {
		return out
	}
	others := make([]float64, 0, d.n)
	for i := range d.n {
		row := d.row(i)
		others = append(append(others[:0], row[:i]...), row[i+1:]...)
		out[i] = stats.Select(others, min(k, len(others))-1)
	}
	return out
}
