package measured

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// Symmetric holds one latency in s per pair of hosts, as a triangle of float32: two
// of these and the square matrix of the clustering are all that 16384 hosts
// need. A measurement is always above zero in size; a negative one was not
// measured, and its absolute value is an estimate from near neighbours. Estimates serve
// clustering and the fit of edges; what judges must not read them.
//
// It does not change once it is made.
type Symmetric struct {
	n int
	d []float32 // of the pair i > j at i(i-1)/2+j
}

func newSymmetric(n int) *Symmetric {
	return &Symmetric{n: n, d: make([]float32, max(0, n*(n-1)/2))}
}

// NewSymmetric takes the measurements of n hosts from a function of pairs i > j; none is zero or NaN,
// and a negative one is an estimate. O(n^2).
func NewSymmetric(n int, at func(i, j int) float32) *Symmetric {
	s := newSymmetric(n)
	for i := range n {
		for j, row := 0, s.Row(i); j < i; j++ {
			row[j] = at(i, j)
		}
	}
	return s
}

// N is the number of hosts.
func (s *Symmetric) N() int { return s.n }

// Row is the measurements of host i to hosts 0 to i-1. It must not be changed.
func (s *Symmetric) Row(i int) []float32 { return s.d[i*(i-1)/2:][:i] }

// At is the measurement of i != j, negative where it was not measured.
func (s *Symmetric) At(i, j int) float32 {
	if i < j {
		i, j = j, i
	}
	return s.d[i*(i-1)/2+j]
}

// Measured is the measurement of i != j; NaN where nothing was measured.
func (s *Symmetric) Measured(i, j int) float64 {
	if v := s.At(i, j); v > 0 {
		return float64(v)
	}
	return math.NaN()
}

// Host writes the measurements of host i to all n into dst, and -1 at i itself. O(n).
func (s *Symmetric) Host(dst []float32, i int) {
	copy(dst, s.Row(i))
	dst[i] = -1
	for j, at := i+1, (i+1)*i/2+i; j < s.n; j++ {
		dst[j] = s.d[at]
		at += j
	}
}

// Dense copies the measurements into a square matrix, row by row; NaN on the diagonal and where nothing
// was measured. O(n^2).
func (s *Symmetric) Dense() []float32 {
	const square = 64
	n := s.n
	nan := float32(math.NaN())
	d := make([]float32, n*n)
	for i0 := 0; i0 < n; i0 += square {
		for j0 := 0; j0 <= i0; j0 += square {
			for i := i0; i < min(i0+square, n); i++ {
				row := s.Row(i)
				for j := j0; j < min(j0+square, i); j++ {
					v := row[j]
					if v < 0 {
						v = nan
					}
					d[i*n+j], d[j*n+i] = v, v
				}
			}
		}
	}
	for i := range n {
		d[i*n+i] = nan
	}
	return d
}

// InOrder returns the measurements of the hosts in the given order, in scratch if that has room:
// they last until scratch is used again. O(n^2).
func (s *Symmetric) InOrder(order []int32, scratch []float32) *Symmetric {
	if cap(scratch) < len(s.d) {
		scratch = make([]float32, len(s.d))
	}
	o := &Symmetric{n: s.n, d: scratch[:len(s.d)]}
	for p, i := range order {
		row, own := o.Row(p), s.Row(int(i))
		for q, j := range order[:p] {
			if j < i {
				row[q] = own[j]
			} else {
				row[q] = s.d[int(j)*(int(j)-1)/2+int(i)]
			}
		}
	}
	return o
}

// Means are the mean sizes of the measurements of each host. O(n^2).
func (s *Symmetric) Means() []float64 {
	mean := make([]float64, s.n)
	for i := range s.n {
		for j, x := range s.Row(i) {
			size := float64(max(x, -x))
			mean[i] += size
			mean[j] += size
		}
	}
	for i := range mean {
		mean[i] /= float64(s.n - 1)
	}
	return mean
}

// ByMean are the hosts in ascending order of their means: an order that does not depend on how
// they are numbered. O(n^2).
func (s *Symmetric) ByMean() []int32 {
	mean := s.Means()
	order := make([]int32, s.n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(mean[a], mean[b]) })
	return order
}

// Nearest are the hosts with the smallest measurements of host i, up to as many, the
// nearest first; ties go to the lowest. row is scratch of a measurement per host. O(n).
func (s *Symmetric) Nearest(row []float32, i, most int) []int32 {
	s.Host(row, i)
	for j, x := range row {
		if x < 0 { // not measured, or i itself
			row[j] = float32(math.NaN())
		}
	}
	return stats.Smallest(row, most)
}

// AllNearest are the nearest of every host. It looks at each measurement once, row by row. O(n^2).
func (s *Symmetric) AllNearest(most int) [][]int32 {
	near := make([][]int32, s.n)
	reach := make([]float32, s.n)
	for i := range near {
		near[i] = make([]int32, 0, most+1)
		reach[i] = float32(math.Inf(1))
	}
	take := func(i, j int, x float32) {
		at := len(near[i])
		for at > 0 && x < s.At(i, int(near[i][at-1])) {
			at--
		}
		near[i] = slices.Insert(near[i], at, int32(j))
		if len(near[i]) > most {
			near[i] = near[i][:most]
		}
		if len(near[i]) == most {
			reach[i] = s.At(i, int(near[i][most-1]))
		}
	}
	for i := range s.n {
		for j, x := range s.Row(i) {
			if x > 0 && x < reach[i] {
				take(i, j, x)
			}
			if x > 0 && x < reach[j] {
				take(j, i, x)
			}
		}
	}
	return near
}
