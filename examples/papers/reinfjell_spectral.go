package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology/cluster"
)

// spectral clusters ranks in the space of the leading eigenvectors of a normalised matrix (Ng, Jordan and
// Weiss 2001).
type spectral struct {
	k     int
	cells func(d mat.Symmetric) *mat.SymDense
}

// affinities are those of Zelnik-Manor and Perona 2004: exp(-d_ij^2 / (s_i s_j)) for the distances s to the seventh
// neighbours.
func affinities(d mat.Symmetric) *mat.SymDense {
	const neighbour = 7
	n := d.SymmetricDim()
	scale := make([]float64, n)
	for i := range n {
		var row []float64
		for j := range n {
			if j != i {
				row = append(row, d.At(i, j))
			}
		}
		if slices.Sort(row); len(row) > 0 {
			scale[i] = row[min(neighbour, len(row))-1]
		}
	}
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			v := d.At(i, j)
			affinity := 1.0 // both have seven others at distance 0
			if product := scale[i] * scale[j]; product > 0 {
				affinity = math.Exp(-v * v / product)
			} else if v > 0 {
				affinity = 0
			}
			a.SetSym(i, j, affinity)
		}
	}
	return a
}

// plainDistances are the distances themselves, as section 2.5.6 of the thesis words spectral clustering.
func plainDistances(d mat.Symmetric) *mat.SymDense {
	a := mat.NewSymDense(d.SymmetricDim(), nil)
	a.CopySym(d)
	return a
}

// Cluster returns k clusters. O(n^3).
func (s spectral) Cluster(d mat.Symmetric) (cluster.Labels, error) {
	n := d.SymmetricDim()
	if s.k < 1 || s.k > n {
		return nil, fmt.Errorf("spectral clustering: %d clusters of %d ranks: want 1 to as many", s.k, n)
	}
	a := s.cells(d)
	degree := make([]float64, n)
	for i := range n {
		for j := range n {
			degree[i] += a.At(i, j)
		}
	}
	for i := range n {
		for j := range i {
			if degree[i] > 0 && degree[j] > 0 {
				a.SetSym(i, j, a.At(i, j)/math.Sqrt(degree[i]*degree[j]))
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, fmt.Errorf("spectral clustering: the eigenvalue problem of %d ranks did not converge", n)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	points := mat.DenseCopyOf(vectors.Slice(0, n, n-s.k, n)) // of the largest eigenvalues
	for i := range n {
		if row := points.RawRowView(i); floats.Norm(row, 2) > 0 {
			floats.Scale(1/floats.Norm(row, 2), row)
		}
	}
	apart := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			apart.SetSym(i, j, floats.Distance(points.RawRowView(i), points.RawRowView(j), 2))
		}
	}
	return cluster.KMedoids{K: s.k}.Cluster(apart)
}
