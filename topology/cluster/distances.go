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
func NewDistances(m mat.Matrix) (*mat.SymDense, error) {
	n, cols := m.Dims()
	if n != cols {
		return nil, fmt.Errorf("cluster: distances: %d x %d matrix: want a square one", n, cols)
	}
	d, err := newDistances(n, m.At, false)
	if err != nil {
		return nil, err
	}
	return d.symmetric(), nil
}

// distances is a symmetric matrix whose rows lie in one piece, as the methods walk through them. Its diagonal is 0.
type distances struct {
	n int
	d []float64 // row by row
}

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

// rowsOf are distances for a method to walk through.
func rowsOf(s mat.Symmetric) *distances {
	n := s.SymmetricDim()
	d := &distances{n: n, d: make([]float64, n*n)}
	for i := range n {
		for j := i + 1; j < n; j++ {
			v := s.At(i, j)
			d.d[i*n+j], d.d[j*n+i] = v, v
		}
	}
	return d
}

// symmetric is the matrix for others.
func (d *distances) symmetric() *mat.SymDense {
	if d.n == 0 {
		return &mat.SymDense{} // NewSymDense refuses size 0
	}
	return mat.NewSymDense(d.n, d.d)
}

// row is the distances of one object.
func (d *distances) row(i int) []float64 { return d.d[i*d.n : (i+1)*d.n] }

// at is the distance between objects i and j.
func (d *distances) at(i, j int) float64 { return d.d[i*d.n+j] }

// part is the distances among some of the objects.
func (d *distances) part(members []int) *distances {
	p := &distances{n: len(members), d: make([]float64, len(members)*len(members))}
	for a, i := range members {
		for b, j := range members {
			p.d[a*p.n+b] = d.at(i, j)
		}
	}
	return p
}

// kth returns each object's distance to its k-th nearest other, k >= 1; to the
// farthest where there are fewer. O(n^2).
func (d *distances) kth(k int) []float64 {
	out := make([]float64, d.n)
	var row []float64
	for i := range out {
		row = append(row[:0], d.row(i)...) // with the 0 of the object itself, which is the least
		out[i] = stats.Select(row, min(k, d.n-1))
	}
	return out
}
