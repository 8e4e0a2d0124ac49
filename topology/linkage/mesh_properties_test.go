package linkage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// meshMethods are the methods of this package that find graphs, with machines
// that each reconstructs.
func meshMethods() map[string]struct {
	method topology.Reconstructor
	specs  []string
} {
	type m = struct {
		method topology.Reconstructor
		specs  []string
	}
	meshes := []string{"ring:9", "torus:4x6", "mesh:3x3x4"}
	return map[string]m{
		"clique":  {&clique.Switches{Epsilon: 0.05}, []string{"tree:3x5", "tree:[3,4,6]x4 latency=9us,4us,5us", "ring:6 hosts=3", "torus:4x5 hosts=3"}},
		"greedy":  {&spanner.GreedyCycle{}, meshes},
		"witness": {&spanner.Witness{}, meshes},
	}
}

func TestMeshMethodsRelabelScaleAndRepeat(t *testing.T) {
	for name, m := range meshMethods() {
		for _, spec := range m.specs {
			_, d := topotest.Generate(t, spec)
			n, _ := d.Dims()
			reconstruct := func(reps ...mat.Matrix) *topology.Result {
				r, err := m.method.Reconstruct(reps...)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			want := reconstruct(d)

			// Other labels: the same groups and links of the same hosts.
			perm := rand.New(rand.NewPCG(1, uint64(n))).Perm(n)
			moved := reconstruct(gen.RelabelMatrix(d, perm))
			if moved.Graph.Vertices() != want.Graph.Vertices() || moved.Graph.NumArcs() != want.Graph.NumArcs() || math.Abs(moved.Fit.R2-want.Fit.R2) > 1e-9 {
				t.Errorf("%s, %s: relabelled: %d vertices, %d arcs, R2 %g, want %d, %d, %g", name, spec,
					moved.Graph.Vertices(), moved.Graph.NumArcs(), moved.Fit.R2, want.Graph.Vertices(), want.Graph.NumArcs(), want.Fit.R2)
			}
			if got, want := describe(moved, 1, nil), describe(want, 1, perm); !slices.Equal(got, want) {
				t.Errorf("%s, %s: relabelled: groups %q, want %q", name, spec, got, want)
			}
			for _, a := range want.Graph.Arcs() {
				if !want.Graph.IsSwitch(a.From) && !want.Graph.IsSwitch(a.To) && moved.Graph.ArcIndex(perm[a.From], perm[a.To]) < 0 {
					t.Errorf("%s, %s: relabelled: no arc from %d to %d", name, spec, perm[a.From], perm[a.To])
				}
			}

			// A thousand times the latencies.
			var scaled mat.Dense
			scaled.Scale(1000, d)
			r := reconstruct(&scaled)
			if !slices.EqualFunc(r.Graph.Arcs(), want.Graph.Arcs(), func(a, b topology.Arc) bool {
				return a.From == b.From && a.To == b.To && math.Abs(a.Latency-1000*b.Latency) <= 1e-9*a.Latency
			}) {
				t.Errorf("%s, %s: scaled latencies give another graph", name, spec)
			}

			// The same again, and the same with noise that only adds.
			slow := mat.DenseCopyOf(d)
			slow.Apply(func(i, j int, v float64) float64 { return v * (1 + float64((7*i+3*j)%5)/4) }, slow)
			for what, again := range map[string]mat.Matrix{"equal": d, "slower": slow} {
				if r := reconstruct(d, again); fmt.Sprint(r.Graph.Arcs()) != fmt.Sprint(want.Graph.Arcs()) {
					t.Errorf("%s, %s: an %s repetition gives another graph", name, spec, what)
				}
			}
		}
	}
}

// Cells at random not measured, in both directions of a pair. Most links of a
// torus are found all the same; the literal methods need only be defined.
func TestMeshMethodsWithHoles(t *testing.T) {
	c, d := topotest.Generate(t, "torus:8x8")
	n, _ := d.Dims()
	for _, c2 := range []struct{ share, atLeast float64 }{{0.05, 0.97}, {0.3, 0.85}} {
		rng := rand.New(rand.NewPCG(2, 2))
		m := mat.DenseCopyOf(d)
		for i := range n {
			for j := range i {
				if rng.Float64() < c2.share {
					m.Set(i, j, math.NaN())
					m.Set(j, i, math.NaN())
				}
			}
		}
		for name, method := range meshMethods() {
			r, err := method.method.Reconstruct(m)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(r.Warnings) == 0 {
				t.Errorf("%s: no warning of %g %% of holes", name, 100*c2.share)
			}
			if name != "witness" {
				continue
			}
			found := 0
			for _, a := range r.Graph.Arcs() {
				if c.Graph.ArcIndex(a.From, a.To) >= 0 {
					found++
				}
			}
			if float64(found) < c2.atLeast*float64(c.Graph.NumArcs()) || float64(r.Graph.NumArcs()-found) > (1-c2.atLeast)*float64(c.Graph.NumArcs()) {
				t.Errorf("%g %% of holes: %d of %d arcs found, %d false", 100*c2.share, found, c.Graph.NumArcs(), r.Graph.NumArcs()-found)
			}
		}
	}
}

// Reference: internal/published/wan: holes, asymmetry, no triangle inequality. There
// is no truth; it must not be called a tree or a perfect fit.
func TestMeshMethodsOnAWideAreaNetwork(t *testing.T) {
	d := published.Read("wan/wan_seattle_99").Measurements[0]
	for name, m := range meshMethods() {
		r, err := m.method.Reconstruct(d)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Fit.Family == topology.FamilyTree || r.Fit.Family == topology.FamilyFlat || len(r.Warnings) == 0 {
			t.Errorf("%s: family %s, warnings %q", name, r.Fit.Family, r.Warnings)
		}
	}
}
