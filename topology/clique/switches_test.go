package clique_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology/clique"
	"gonum.org/v1/gonum/mat"
)

func TestSwitchesReconstructsWhatWasGenerated(t *testing.T) {
	for _, spec := range []string{
		"star:8", "tree:3x4", "tree:3x3x4 latency=3us,2us,1us", "tree:[3,5,4]x4 latency=3us,2us,1us shuffle seed=3",
		"ring:6 hosts=4", "torus:4x4 hosts=3", "torus:4x5 hosts=4 shuffle seed=5",
	} {
		c, d := topotest.Generate(t, spec)
		r, err := (&clique.Switches{Epsilon: 0.05}).Reconstruct(d)
		if err != nil {
			t.Fatal(err)
		}
		if r.Fit.R2 < 1-1e-9 || r.Graph.Vertices() != c.Graph.Vertices() || r.Graph.NumArcs() != c.Graph.NumArcs() {
			t.Errorf("%s: %d vertices, %d arcs, R2 %g, want %d, %d, 1", spec,
				r.Graph.Vertices(), r.Graph.NumArcs(), r.Fit.R2, c.Graph.Vertices(), c.Graph.NumArcs())
		}
		if got, want := topotest.Groups(r.Hierarchy), topotest.Groups(c.Hierarchy); !slices.Equal(got, want) {
			t.Errorf("%s: groups = %v, want %v", spec, got, want)
		}
		for k, l := range r.Hierarchy.Levels() {
			if want := fmt.Sprintf("level %d", k+1); l.Name != want {
				t.Errorf("%s: level %q, want %q", spec, l.Name, want)
			}
		}
	}
}

// Noise below a sixth of epsilon, and epsilon below the steps: the thesis'
// method then works.
func TestSwitchesWithNoise(t *testing.T) {
	c, d := topotest.Generate(t, "tree:2x4x8 latency=6us,4us,5us shuffle")
	for seed := range uint64(10) {
		m, err := gen.Noise{Sigma: 0.01}.Apply(rand.New(rand.NewPCG(seed, 1)), d)
		if err != nil {
			t.Fatal(err)
		}
		r := topotest.Reconstruct(t, &clique.Switches{Epsilon: 0.1}, m)
		if got, want := topotest.Groups(r.Hierarchy), topotest.Groups(c.Hierarchy); !slices.Equal(got, want) {
			t.Errorf("seed %d: groups = %v, want %v", seed, got, want)
		}
	}
}

// Reference: Bufe 2014, section 2.2.5, figure 2.15: two kinds of nodes on one
// switch give two switches at no latency, which are rejoined.
func TestSwitchesRejoinsKindsOfHosts(t *testing.T) {
	link := []float64{1, 1, 1, 2, 2, 2, 4, 4, 7} // three kinds, and one alone
	n := len(link)
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i != j {
				d.Set(i, j, (link[i]+link[j])*1e-6)
			}
		}
	}
	r := topotest.Reconstruct(t, &clique.Switches{Epsilon: 0.01}, d)
	if got, want := topotest.Links(r.Graph), "0-9:1 1-9:1 2-9:1 3-9:2 4-9:2 5-9:2 6-9:4 7-9:4 8-9:7"; got != want {
		t.Errorf("links = %s, want %s", got, want)
	}
}

func TestSwitchesOfLittle(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		d        *mat.Dense
		vertices int
		arcs     int
		warnings int
	}{
		{"no host", &mat.Dense{}, 0, 0, 0},
		{"one host", mat.NewDense(1, 1, nil), 1, 0, 0},
		{"two hosts", mat.NewDense(2, 2, []float64{0, 1, 1, 0}), 2, 2, 0},
		{"three hosts at no latency", mat.NewDense(3, 3, nil), 4, 6, 0},
		{"two hosts in one direction", mat.NewDense(2, 2, []float64{0, 1, nan, 0}), 2, 2, 1},
		{"hosts that are not connected", mat.NewDense(3, 3, []float64{0, 1, nan, 1, 0, nan, nan, nan, 0}), 3, 2, 2},
		{"a measurement below zero", mat.NewDense(2, 2, []float64{0, -1, 1, 0}), 2, 2, 2},
		{"directions that differ", mat.NewDense(2, 2, []float64{0, 2, 1, 0}), 2, 2, 1},
	} {
		r := topotest.Reconstruct(t, &clique.Switches{Epsilon: 0}, c.d)
		if r.Graph.Vertices() != c.vertices || r.Graph.NumArcs() != c.arcs || len(r.Warnings) != c.warnings {
			t.Errorf("%s: %d vertices, %d arcs, warnings %q, want %d, %d and %d warnings", c.name,
				r.Graph.Vertices(), r.Graph.NumArcs(), r.Warnings, c.vertices, c.arcs, c.warnings)
		}
	}
}

func TestSwitchesRefuses(t *testing.T) {
	two := mat.NewDense(2, 2, []float64{0, 1, 1, 0})
	for _, c := range []struct {
		name   string
		method clique.Switches
		in     []mat.Matrix
	}{
		{"no matrix", clique.Switches{}, nil},
		{"a matrix that is not square", clique.Switches{}, []mat.Matrix{mat.NewDense(1, 2, nil)}},
		{"matrices of different sizes", clique.Switches{}, []mat.Matrix{two, mat.NewDense(3, 3, nil)}},
		{"an infinite latency", clique.Switches{}, []mat.Matrix{mat.NewDense(2, 2, []float64{0, math.Inf(1), 1, 0})}},
		{"Epsilon of 1", clique.Switches{Epsilon: 1}, []mat.Matrix{two}},
		{"Floor below 0", clique.Switches{Floor: -1}, []mat.Matrix{two}},
	} {
		if r, err := c.method.Reconstruct(c.in...); err == nil {
			t.Errorf("%s: %v, want an error", c.name, r)
		}
	}
}

// A matrix of noise alone has more cliques than can be listed, and no answer;
// the method must end all the same.
func TestSwitchesEndsOnNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := 80
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i {
			v := 1 + 0.2*rng.Float64()
			d.Set(i, j, v)
			d.Set(j, i, v)
		}
	}
	r := topotest.Reconstruct(t, &clique.Switches{Epsilon: 0.08}, d)
	if r.Graph.Hosts() != n {
		t.Errorf("%d hosts, want %d", r.Graph.Hosts(), n)
	}
}

func BenchmarkSwitches(b *testing.B) {
	_, d := topotest.Generate(b, "tree:3x8x8 latency=6us,4us,5us")
	m, err := gen.Noise{Sigma: 0.01}.Apply(rand.New(rand.NewPCG(1, 1)), d)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (&clique.Switches{}).Reconstruct(m); err != nil {
			b.Fatal(err)
		}
	}
}
