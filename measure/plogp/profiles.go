package plogp

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
)

// Profiles are the distances between the profiles of ranks.
type Profiles struct {
	*mat.SymDense
	Vectors [][]float64 // the scaled profiles, one per rank, with NaN for missing entries
}

// NewProfiles returns the Euclidean distances between the ranks' profiles
// (Reinfjell 2023, equations 3.5 and 3.6): one square matrix per parameter of
// the pairs, such as L, os, or and g, row i of all of them being the profile
// of rank i. Two departures keep the distances meaningful. Of a pair (i, j)
// the entries with i or j as the other end are left out, as a rank has no values
// to itself. Each parameter is scaled by its median absolute deviation,
// or g would drown L. Cells that are NaN in either profile are left out too,
// and the sum is scaled up for them. O(n^3) per parameter.
func NewProfiles(parameters ...mat.Matrix) (*Profiles, error) {
	if len(parameters) == 0 {
		return nil, fmt.Errorf("plogp: profiles: no parameters")
	}
	n, _ := parameters[0].Dims()
	if n == 0 {
		return nil, fmt.Errorf("plogp: profiles: no ranks")
	}
	sum, count := make([]float64, n*n), make([]int, n*n)
	profiles := make([][]float64, n)
	for k, p := range parameters {
		if r, c := p.Dims(); r != n || c != n {
			return nil, fmt.Errorf("plogp: profiles: parameter %d is a %d x %d matrix: want %d x %d", k, r, c, n, n)
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
	d := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			if n > 2 && count[i*n+j] == 0 {
				return nil, fmt.Errorf("plogp: profiles: ranks %d and %d have no common entry", j, i)
			}
			d.SetSym(i, j, math.Sqrt(sum[i*n+j]*full/float64(max(1, count[i*n+j]))))
		}
	}
	return &Profiles{d, profiles}, nil
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
	centre, mean := stats.Select(all, len(all)/2), 0.0
	for i := range all {
		all[i] = math.Abs(all[i] - centre)
		mean += all[i] / float64(len(all))
	}
	scale := cmp.Or(stats.Select(all, len(all)/2), mean, 1)
	for i := range v {
		v[i] /= scale
	}
	return v
}
