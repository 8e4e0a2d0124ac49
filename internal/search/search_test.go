package search_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/search"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology/cluster"
)

// machine is four nodes of two sockets of four ranks, in random order: latencies of 1, 2 and 4 us with 2 % of noise, and
// the true labels.
func machine(t *testing.T) (latencies *mat.Dense, nodes, sockets cluster.Labels) {
	t.Helper()
	const n = 32
	rng := rand.New(rand.NewPCG(3, 4))
	at := rng.Perm(n)
	latencies = mat.NewDense(n, n, nil)
	rawNodes, rawSockets := make([]int, n), make([]int, n)
	for i := range n {
		rawNodes[i], rawSockets[i] = at[i]/8, at[i]/4
		for j := range n {
			v := 4e-6
			switch {
			case at[i]/4 == at[j]/4:
				v = 1e-6
			case at[i]/8 == at[j]/8:
				v = 2e-6
			}
			latencies.Set(i, j, v*(1+0.02*rng.NormFloat64()))
		}
	}
	return latencies, cluster.Relabel(rawNodes), cluster.Relabel(rawSockets)
}

// TestFamilies: on a clear machine every method of section 3.3 gets nodes and sockets right for some value of
// its parameter (equation 3.10), and finds one of the two by the silhouette, without being told.
func TestFamilies(t *testing.T) {
	m, nodes, sockets := machine(t)
	times, err := cluster.NewDistances(m)
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := plogp.NewProfiles(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range search.Families() {
		for name, d := range map[string]mat.Symmetric{"times": times, "profiles": profiles} {
			for level, want := range map[string]cluster.Labels{"nodes": nodes, "sockets": sockets} {
				found, err := truth.Accuracy(&f, d, want)
				if err != nil || found.Score != 1 || !slices.Equal(found.Labels, want) {
					t.Errorf("%s of %s, %s: %.3f at %g, %v; want 1", f.Name, name, level, found.Score, found.Value, err)
				}
				if f.Static && found.Value != float64(want.Clusters()) {
					t.Errorf("%s: told %g groups, there are %d", f.Name, found.Value, want.Clusters())
				}
			}
			found, err := f.Search(d, func(_ cluster.Clusterer, l cluster.Labels) float64 { return cluster.Silhouette(d, l) })
			if err != nil || !slices.Equal(found.Labels, nodes) && !slices.Equal(found.Labels, sockets) {
				t.Errorf("%s of %s: searched %g of %d values, %v, %v", f.Name, name, found.Value, found.Tried, found.Labels, err)
			}
			if want := map[bool]int{true: 31, false: 50}[f.Static]; f.Name != "hdbscan" && found.Tried != want {
				t.Errorf("%s: %d values tried, want %d", f.Name, found.Tried, want)
			}
		}
	}
}

func TestSearchFindsTheNumberOfBlobs(t *testing.T) {
	x := []float64{0, 1, 2, 10, 11, 12, 20, 21, 22}
	d := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := range x {
			d.SetSym(i, j, math.Abs(x[i]-x[j]))
		}
	}
	all := search.Families()
	f := all[slices.IndexFunc(all, func(f search.Family) bool { return f.Name == "kmedoids" })]
	found, err := f.Search(d, func(_ cluster.Clusterer, l cluster.Labels) float64 { return cluster.Silhouette(d, l) })
	if err != nil || found.Value != 3 || found.Labels.Clusters() != 3 || found.Tried != 8 {
		t.Errorf("best K = %g, %v, %v, want 3", found.Value, found.Labels, err)
	}
	f.Space = func(mat.Symmetric) (float64, float64) { return 20, 30 }
	if _, err := f.Search(d, func(cluster.Clusterer, cluster.Labels) float64 { return 0 }); err == nil {
		t.Error("no value works: no error")
	}
}

// tried notes a value of the parameter.
type tried struct{ note func() }

func (c tried) Cluster(d mat.Symmetric) (cluster.Labels, error) {
	c.note()
	return make(cluster.Labels, d.SymmetricDim()), nil
}

// TestSearchedValues: 50 equal steps from the low end, the high end left out; of whole numbers each, if there are no more. Of equal
// scores the lowest value counts (Reinfjell 2023, section 3.3).
func TestSearchedValues(t *testing.T) {
	for _, c := range []struct {
		low, high   float64
		whole       bool
		count       int
		first, last float64
	}{
		{10, 20, false, 50, 10, 19.8},
		{2, 7, true, 5, 2, 6},
		{2, 2, true, 1, 2, 2},
		{1, 1001, true, 50, 1, 981},
	} {
		var values []float64
		f := search.Family{
			Whole: c.whole,
			Space: func(mat.Symmetric) (float64, float64) { return c.low, c.high },
			At:    func(x float64) cluster.Clusterer { return tried{func() { values = append(values, x) }} },
		}
		found, err := f.Search(mat.NewSymDense(3, nil), func(cluster.Clusterer, cluster.Labels) float64 { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		if len(values) != c.count || found.Tried != c.count || values[0] != c.first || math.Abs(values[len(values)-1]-c.last) > 1e-9 || !slices.IsSorted(values) {
			t.Errorf("in [%g, %g): tried %v, want %d from %g to %g", c.low, c.high, values, c.count, c.first, c.last)
		}
		if found.Value != c.first {
			t.Errorf("in [%g, %g): %g is found, want the first of equals, %g", c.low, c.high, found.Value, c.first)
		}
	}
}

// The parameter that gives the best clustering, without and with a known answer
// (Reinfjell 2023, section 3.3 and equation 3.10).
func ExampleFamily_Search() {
	m := mat.NewSymDense(8, nil) // two nodes of two sockets of two cores: 1 us within a socket, 2 between sockets, 10 between nodes
	for i := range 8 {
		for j := range i {
			switch {
			case i/4 != j/4:
				m.SetSym(i, j, 10e-6)
			case i/2 != j/2:
				m.SetSym(i, j, 2e-6)
			default:
				m.SetSym(i, j, 1e-6)
			}
		}
	}
	sockets := cluster.Labels{0, 0, 1, 1, 2, 2, 3, 3}
	for _, family := range search.Families() {
		if family.Name != "components" && family.Name != "kmedoids" {
			continue
		}
		clear, err := family.Search(m, func(_ cluster.Clusterer, l cluster.Labels) float64 { return cluster.Silhouette(m, l) })
		if err != nil {
			log.Fatal(err)
		}
		right, err := family.Search(m, func(_ cluster.Clusterer, l cluster.Labels) float64 { return truth.Matching(l, sockets) })
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %v, silhouette %.2f; %.0f %% of the cores on the correct socket\n", family.Name, clear.Labels, clear.Score, 100*right.Score)
	}
	// Output:
	// kmedoids: [0 0 0 0 1 1 1 1], silhouette 0.83; 100 % of the cores on the correct socket
	// components: [0 0 0 0 1 1 1 1], silhouette 0.83; 100 % of the cores on the correct socket
}
