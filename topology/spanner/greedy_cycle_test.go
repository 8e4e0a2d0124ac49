package spanner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// directMethods are GreedyCycle to the letter of the paper and of its program, and the given Witness.
func directMethods(w *spanner.Witness) map[string]topology.Reconstructor {
	return map[string]topology.Reconstructor{
		"stages": &spanner.GreedyCycle{}, "witness": w,
	}
}

// arcs lists the arcs of a graph as "0>1".
func arcs(g *topology.Graph) []string {
	var s []string
	for _, a := range g.Arcs() {
		s = append(s, fmt.Sprintf("%d>%d", a.From, a.To))
	}
	return s
}

func TestDirectMethodsReconstructMeshesWithoutNoise(t *testing.T) {
	for _, spec := range []string{"ring:7 latency=1us", "line:5 latency=1us", "torus:4x6 latency=1us shuffle", "torus:4x4x6 latency=1us shuffle seed=2", "mesh:3x4x5 latency=1us"} {
		c, d := topotest.Generate(t, spec)
		for name, method := range directMethods(&spanner.Witness{}) {
			r := topotest.Reconstruct(t, method, d)
			if got, want := arcs(r.Graph), arcs(c.Graph); !slices.Equal(got, want) || len(r.Warnings) > 0 {
				t.Errorf("%s by %s: %d arcs, want %d; warnings %q", spec, name, len(got), len(want), r.Warnings)
			}
			if r.Fit.Family != topology.FamilyMesh || r.Fit.R2 < 1-1e-9 {
				t.Errorf("%s by %s: %s with R2 %g, want a mesh with 1", spec, name, r.Fit.Family, r.Fit.R2)
			}
		}
	}
}

// Two groups of three cores on shared memory, latency 1 inside; 5 between cores
// 0 and 3, which join them, and one more for each step to these. By hand, stage 1: the pair 0-1, the
// group {0, 1, 2}, up to 3, down to 4, the group {3, 4, 5}. Stage 2: no other
// core has a shorter arc than the path over 0-3, which takes 6 or 7.
func TestGreedyCycleJoinsGroupsOnSharedMemory(t *testing.T) {
	d := mat.NewDense(6, 6, nil)
	for i := range 6 {
		for j := range 6 {
			switch {
			case i == j:
			case i/3 == j/3:
				d.Set(i, j, 1)
			default:
				d.Set(i, j, 7-float64(boolInt(i%3 == 0))-float64(boolInt(j%3 == 0)))
			}
		}
	}
	want := strings.Fields("0>1 0>2 0>3 1>0 1>2 2>0 2>1 3>0 3>4 3>5 4>3 4>5 5>3 5>4")
	if got := arcs(topotest.Reconstruct(t, &spanner.GreedyCycle{}, d).Graph); !slices.Equal(got, want) {
		t.Errorf("arcs = %v, want %v", got, want)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A ring of six in which 0 is slow to send to 1: the channel is simplex.
func TestDirectMethodsReportSimplexChannels(t *testing.T) {
	// Latencies along the ring, one way or the other: over 0->1 it takes 4, not 1.
	d := mat.NewDense(6, 6, nil)
	for i := range 6 {
		for j := range 6 {
			up, down := (j-i+6)%6, (i-j+6)%6
			if (1-i+6)%6 <= up && up > 0 && i != 1 {
				up += 3
			}
			d.Set(i, j, float64(min(up, down)))
		}
	}
	for name, method := range directMethods(&spanner.Witness{KeepOverhead: true}) {
		r := topotest.Reconstruct(t, method, d)
		has := arcs(r.Graph)
		if !slices.Contains(has, "1>0") || slices.Contains(has, "0>1") {
			t.Errorf("by %s: arcs %v, want 1>0, and not 0>1", name, has)
		}
		if !slices.Contains(r.Warnings, "channel 1->0 is simplex: 0->1 takes 4 times as long") {
			t.Errorf("by %s: warnings %q do not name the channel 1->0", name, r.Warnings)
		}
	}
}

// Hosts behind a switch look fully meshed: the source says so of hierarchical
// machines (section 2.3).
func TestGreedyCycleWarnsOfSwitches(t *testing.T) {
	_, d := topotest.Generate(t, "star:8")
	r := topotest.Reconstruct(t, &spanner.GreedyCycle{}, d)
	if r.Graph.NumArcs() != 56 || len(r.Warnings) != 1 {
		t.Errorf("%d arcs, warnings %q, want 56 and one", r.Graph.NumArcs(), r.Warnings)
	}
}

func TestDirectMethodsOfLittle(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		d    *mat.Dense
		arcs []string
	}{
		{"no host", &mat.Dense{}, nil},
		{"one host", mat.NewDense(1, 1, nil), nil},
		{"two hosts", mat.NewDense(2, 2, []float64{0, 1, 1, 0}), []string{"0>1", "1>0"}},
		{"two hosts in one direction", mat.NewDense(2, 2, []float64{0, 1, nan, 0}), []string{"0>1"}},
		{"two hosts at no latency", mat.NewDense(2, 2, nil), []string{"0>1", "1>0"}},
		{"nothing measured", mat.NewDense(2, 2, []float64{nan, nan, nan, nan}), nil},
		{"two parts", mat.NewDense(4, 4, []float64{0, 1, nan, nan, 1, 0, nan, nan, nan, nan, 0, 2, nan, nan, 2, 0}), []string{"0>1", "1>0", "2>3", "3>2"}},
	} {
		for name, method := range directMethods(&spanner.Witness{}) {
			if got := arcs(topotest.Reconstruct(t, method, c.d).Graph); !slices.Equal(got, c.arcs) {
				t.Errorf("%s by %s: arcs %v, want %v", c.name, name, got, c.arcs)
			}
		}
	}
}

func TestDirectMethodsRefuse(t *testing.T) {
	two := mat.NewDense(2, 2, []float64{0, 1, 1, 0})
	for _, c := range []struct {
		name   string
		method topology.Reconstructor
		in     []mat.Matrix
	}{
		{"no matrix", &spanner.GreedyCycle{}, nil},
		{"SharedSpread below 0", &spanner.GreedyCycle{SharedSpread: -1}, []mat.Matrix{two}},
		{"DuplexSpread that is not a number", &spanner.GreedyCycle{DuplexSpread: math.NaN()}, []mat.Matrix{two}},
		{"no matrix for Witness", &spanner.Witness{}, nil},
		{"an infinite Tolerance", &spanner.Witness{Tolerance: math.Inf(1)}, []mat.Matrix{two}},
	} {
		if r, err := c.method.Reconstruct(c.in...); err == nil {
			t.Errorf("%s: %v, want an error", c.name, r)
		}
	}
}

func BenchmarkDirectMethods(b *testing.B) {
	_, d := topotest.Generate(b, "torus:8x8x16 latency=1us")
	m, err := gen.Noise{Sigma: 0.01}.Apply(rand.New(rand.NewPCG(1, 1)), d)
	if err != nil {
		b.Fatal(err)
	}
	for name, method := range map[string]topology.Reconstructor{"stages": &spanner.GreedyCycle{}, "witness": &spanner.Witness{}} {
		for in, matrix := range map[string]mat.Matrix{"exact": d, "noise": m} {
			b.Run(name+"/"+in, func(b *testing.B) {
				for b.Loop() {
					topotest.Reconstruct(b, method, matrix)
				}
			})
		}
	}
}

// Measurements of one direction only leave chains of arcs: a graph without a switch in
// its middle.
func TestDirectMethodsOfDirectedChains(t *testing.T) {
	nan := math.NaN()
	for n := 3; n <= 6; n++ {
		d := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				if i != j {
					d.Set(i, j, nan)
				}
				if j > i {
					d.Set(i, j, float64(j-i))
				}
			}
		}
		for name, method := range directMethods(&spanner.Witness{}) {
			r := topotest.Reconstruct(t, method, d)
			if r.Fit.Family != topology.FamilyMesh || len(r.Hierarchy.Groups()) != 1 {
				t.Errorf("%d hosts by %s: %s, groups %v, want a mesh and the root alone", n, name, r.Fit.Family, topotest.Groups(r.Hierarchy))
			}
			if name == "witness" && !slices.Equal(arcs(r.Graph)[:2], []string{"0>1", "1>2"}) {
				t.Errorf("%d hosts by %s: arcs %v, want a chain", n, name, arcs(r.Graph))
			}
		}
	}
}

// Noise makes no channel of a torus simplex: both directions are the same cable.
func TestGreedyCycleTellsNoSimplexChannelOfNoise(t *testing.T) {
	_, exact := topotest.Generate(t, "torus:4x4")
	n, _ := exact.Dims()
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var repetitions []mat.Matrix
		for range 3 {
			repetitions = append(repetitions, mat.NewDense(n, n, topotest.Noisy(rng, n, exact.RawMatrix().Data, 0.03, 0)))
		}
		r := topotest.Reconstruct(t, &spanner.GreedyCycle{}, repetitions...)
		for _, w := range r.Warnings {
			if strings.Contains(w, "simplex") {
				t.Errorf("seed %d: %s", seed, w)
			}
		}
	}
}
