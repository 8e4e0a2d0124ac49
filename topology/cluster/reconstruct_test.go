package cluster

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

// TestReconstructors: two racks of four, hosts interleaved; two repetitions,
// each with one gross outlier that the other one lacks.
func TestReconstructors(t *testing.T) {
	clean := func() *mat.Dense {
		m := mat.NewDense(8, 8, nil)
		for i := range 8 {
			for j := range 8 {
				v := 10e-6
				if i%2 == j%2 {
					v = 4e-6
				}
				m.Set(i, j, v)
			}
		}
		return m
	}
	a, b := clean(), clean()
	a.Set(0, 2, 90e-6)
	a.Set(2, 0, 90e-6)
	b.Set(3, 6, 80e-6)
	b.Set(6, 3, 80e-6)
	for _, r := range []topology.Reconstructor{
		Flat{HDBSCAN{}},
		Flat{KMedoids{K: 2}},
		Flat{Agglomerative{}},
		Flat{SSS{}},
		Flat{Spectral{K: 2, Neighbour: 2}},
		Nested{},
		Nested{Agglomerative: Agglomerative{Linkage: Single}},
		SSSTree{},
	} {
		result, err := r.Reconstruct(a, b)
		if err != nil {
			t.Fatalf("%T: %v", r, err)
		}
		h := result.Hierarchy
		if len(h.Levels()) != 1 || !slices.Equal(h.GroupsAt(0)[1].Hosts, []int{1, 3, 5, 7}) {
			t.Errorf("%T%+v: groups %+v", r, r, h.Groups())
		}
		// Dendrograms of average linkage are made in float32.
		if math.Abs(h.Latency(0, 2)-4e-6) > 1e-12 || math.Abs(h.Latency(0, 1)-10e-6) > 1e-12 || result.Fit.R2 < 0.999 {
			t.Errorf("%T: latencies %g, %g, R2 %g", r, h.Latency(0, 2), h.Latency(0, 1), result.Fit.R2)
		}
	}
	for _, r := range []topology.Reconstructor{Flat{HDBSCAN{}}, Nested{}, SSSTree{}} {
		if _, err := r.Reconstruct(); err == nil {
			t.Errorf("%T without a matrix: no error", r)
		}
		if _, err := r.Reconstruct(a, mat.NewDense(2, 2, nil)); err == nil {
			t.Errorf("%T with unlike matrices: no error", r)
		}
		if result, err := r.Reconstruct(&mat.Dense{}); err != nil || result.Graph.Vertices() != 0 {
			t.Errorf("%T of no hosts: %v", r, err)
		}
	}
}
