package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology/cluster"
)

// printedSpectral is spectral clustering as section 2.5.6 of the thesis words it: eigenvectors of the distance matrix itself. It
// follows Ng, Jordan and Weiss 2001, which the thesis cites, with the distances where they have affinities. Package cluster makes
// affinities of the distances first.
type printedSpectral struct{ k int }

// Cluster returns k clusters. O(n^3).
func (s printedSpectral) Cluster(d *cluster.Distances) (cluster.Labels, error) {
	n := d.Len()
	degree := make([]float64, n)
	for i := range n {
		for j := range n {
			degree[i] += d.At(i, j)
		}
	}
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			a.SetSym(i, j, d.At(i, j)/math.Sqrt(degree[i]*degree[j]))
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
		row := points.RawRowView(i)
		if norm := mat.Norm(points.RowView(i), 2); norm > 0 {
			for x := range row {
				row[x] /= norm
			}
		}
	}
	embedded := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			var diff mat.VecDense
			diff.SubVec(points.RowView(i), points.RowView(j))
			embedded.Set(i, j, mat.Norm(&diff, 2))
		}
	}
	apart, err := cluster.NewDistances(embedded)
	if err != nil {
		return nil, err
	}
	return cluster.KMedoids{K: s.k}.Cluster(apart)
}

// section256 is the method of that section.
func section256() cluster.Family {
	f := familyOf("spectral")
	f.At = func(x float64, _ func(cluster.Labels) float64) cluster.Clusterer { return printedSpectral{int(x)} }
	return f
}
