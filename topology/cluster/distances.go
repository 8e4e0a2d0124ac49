package cluster

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Distances is a symmetric matrix of distances between n objects, at least 0
// and finite. Its diagonal is 0. It is immutable, and a mat.Matrix, so that every
// topology.Reconstructor takes it.
type Distances struct {
	n int
	d []float64 // row by row

	profiles [][]float64 // see Profiles
}

var _ mat.Matrix = (*Distances)(nil)

// NewDistances copies a square matrix. The distance of a pair is the mean of
// its two cells, or the one that is not NaN. The diagonal is not read. It
// refuses matrices that are not square, negative and infinite cells, and pairs
// without a value. O(n^2).
func NewDistances(m mat.Matrix) (*Distances, error) {
	n, cols := m.Dims()
	if n != cols {
		return nil, fmt.Errorf("cluster: distances: %d x %d matrix: want a square one", n, cols)
	}
	return distances(n, m.At, false)
}

// distances makes a matrix of the cells at (i, j), as NewDistances does; with gaps, NaN where a pair has no value.
func distances(n int, at func(i, j int) float64, gaps bool) (*Distances, error) {
	d := &Distances{n: n, d: make([]float64, n*n)}
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

// FromProfiles returns the Euclidean distances between the hosts' profiles
// (Reinfjell 2023, equations 3.5 and 3.6): one square matrix per parameter of
// the pairs, such as L, os, or and g, row i of all of them being the profile
// of host i. Two departures keep the distances meaningful. Of a pair (i, j)
// the entries with i or j as the other end are left out, as a host has no values
// to itself. Each parameter is scaled by its median absolute deviation,
// or g would drown L. Cells that are NaN in either profile are left out too,
// and the sum is scaled up for them. O(n^3) per parameter.
func FromProfiles(parameters ...mat.Matrix) (*Distances, error) {
	if len(parameters) == 0 {
		return nil, fmt.Errorf("cluster: profiles: no parameters")
	}
	n, _ := parameters[0].Dims()
	sum, count := make([]float64, n*n), make([]int, n*n)
	profiles := make([][]float64, n)
	for k, p := range parameters {
		if r, c := p.Dims(); r != n || c != n {
			return nil, fmt.Errorf("cluster: profiles: parameter %d is a %d x %d matrix: want %d x %d", k, r, c, n, n)
		}
		v := scaledByMAD(p, n)
		for i := range n {
			v[i*n+i] = math.NaN() // no values to itself
			profiles[i] = append(profiles[i], v[i*n:(i+1)*n]...)
			for j := range i {
				for x := range n {
					if diff := v[i*n+x] - v[j*n+x]; x != i && x != j && !math.IsNaN(diff) {
						sum[i*n+j] += diff * diff
						count[i*n+j]++
					}
				}
			}
		}
	}
	full := float64(len(parameters) * max(0, n-2))
	d := &Distances{n: n, d: make([]float64, n*n), profiles: profiles}
	for i := range n {
		for j := range i {
			if n > 2 && count[i*n+j] == 0 {
				return nil, fmt.Errorf("cluster: profiles: hosts %d and %d have no common entry", j, i)
			}
			v := math.Sqrt(sum[i*n+j] * full / float64(max(1, count[i*n+j])))
			d.d[i*n+j], d.d[j*n+i] = v, v
		}
	}
	return d, nil
}

// scaledByMAD copies the off-diagonal cells, divided by their median absolute
// deviation; where more than half of the cells are equal, by the mean one.
func scaledByMAD(p mat.Matrix, n int) []float64 {
	v, all := make([]float64, n*n), make([]float64, 0, n*n)
	for i := range n {
		for j := range n {
			v[i*n+j] = p.At(i, j)
			if i != j && !math.IsNaN(v[i*n+j]) {
				all = append(all, v[i*n+j])
			}
		}
	}
	if len(all) == 0 {
		return v
	}
	slices.Sort(all)
	centre := all[len(all)/2]
	var mean float64
	for i := range all {
		all[i] = math.Abs(all[i] - centre)
		mean += all[i] / float64(len(all))
	}
	slices.Sort(all)
	scale := all[len(all)/2]
	if scale == 0 {
		scale = mean
	}
	if scale == 0 {
		scale = 1
	}
	for i := range v {
		v[i] /= scale
	}
	return v
}

// Dims is n and n.
func (d *Distances) Dims() (rows, columns int) { return d.n, d.n }

// T is the matrix itself: it is symmetric.
func (d *Distances) T() mat.Matrix { return d }

// Len is the number of objects.
func (d *Distances) Len() int { return d.n }

// At is the distance between objects i and j.
func (d *Distances) At(i, j int) float64 { return d.d[i*d.n+j] }

// Profiles are the scaled profiles of FromProfiles, one per object, with NaN for missing entries; nil of other
// distances. They must not be changed.
func (d *Distances) Profiles() [][]float64 { return d.profiles }

// row is the distances of one object.
func (d *Distances) row(i int) []float64 { return d.d[i*d.n : (i+1)*d.n] }

// part is the distances among some of the objects.
func (d *Distances) part(members []int) *Distances {
	p := &Distances{n: len(members), d: make([]float64, len(members)*len(members))}
	for a, i := range members {
		for b, j := range members {
			p.d[a*p.n+b] = d.At(i, j)
		}
	}
	return p
}

// kth returns each object's distance to its k-th nearest other, k >= 1; to the
// farthest where there are fewer. O(k n^2) at worst, O(n^2) as a rule.
func (d *Distances) kth(k int) []float64 {
	out := make([]float64, d.n)
	near := make([]float64, k)
	for i := range d.n {
		// The k smallest so far, ascending: k is small, rows are long.
		count := 0
		for j, v := range d.row(i) {
			if j == i || count == k && v >= near[k-1] {
				continue
			}
			at := min(count, k-1)
			for ; at > 0 && near[at-1] > v; at-- {
				near[at] = near[at-1]
			}
			near[at] = v
			count = min(count+1, k)
		}
		if count > 0 {
			out[i] = near[count-1]
		}
	}
	return out
}
