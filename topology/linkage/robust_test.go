package linkage_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
	"gonum.org/v1/gonum/mat"
)

var nan = math.NaN()

// reconstruct fails the test on an error.
func reconstruct(t testing.TB, repetitions ...mat.Matrix) *topology.Result {
	t.Helper()
	result, err := (&linkage.Robust{}).Reconstruct(repetitions...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// hostGroups returns the groups of a result as lists of hosts, coarse to fine.
func hostGroups(r *topology.Result) [][]int {
	var groups [][]int
	for _, g := range r.Hierarchy.Groups()[1:] {
		groups = append(groups, g.Hosts)
	}
	return groups
}

// blocks is the matrix of groups of the given size: inside, and between.
func blocks(groups, size int, inside, between float64) *mat.Dense {
	n := groups * size
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			switch {
			case i == j:
				d.Set(i, j, nan)
			case i/size == j/size:
				d.Set(i, j, inside)
			default:
				d.Set(i, j, between)
			}
		}
	}
	return d
}

func TestLinkageOfFewHosts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		d       *mat.Dense
		arcs    int
		latency float64
	}{
		{"none", &mat.Dense{}, 0, nan},
		{"one", mat.NewDense(1, 1, []float64{nan}), 0, nan},
		{"two take the faster direction", mat.NewDense(2, 2, []float64{nan, 3e-6, 4e-6, nan}), 2, 3e-6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reconstruct(t, tt.d)
			n, _ := tt.d.Dims()
			if r.Graph.Hosts() != n || r.Graph.Vertices() != n || r.Graph.NumArcs() != tt.arcs {
				t.Errorf("graph of %d hosts, %d vertices, %d arcs, want %d, %d, %d", r.Graph.Hosts(), r.Graph.Vertices(), r.Graph.NumArcs(), n, n, tt.arcs)
			}
			root := r.Hierarchy.Groups()[0]
			if math.Abs(root.Latency-tt.latency) > 1e-7*tt.latency || math.IsNaN(root.Latency) != math.IsNaN(tt.latency) {
				t.Errorf("root latency = %g, want %g", root.Latency, tt.latency)
			}
		})
	}
}

// Three groups of four: by hand, host links of 5 us, uplinks of (30-10)/2 us.
func TestLinkageEdgeLatencies(t *testing.T) {
	r := reconstruct(t, blocks(3, 4, 10e-6, 30e-6))
	if r.Graph.Hosts() != 12 || r.Graph.Vertices() != 16 || r.Graph.NumArcs() != 2*(12+3) {
		t.Fatalf("graph of %d hosts, %d vertices, %d arcs, want 12, 16, 30", r.Graph.Hosts(), r.Graph.Vertices(), r.Graph.NumArcs())
	}
	for _, a := range r.Graph.Arcs() {
		want := 10e-6
		if min(a.From, a.To) < 12 {
			want = 5e-6
		}
		if math.Abs(a.Latency-want) > 1e-6*want {
			t.Errorf("arc %d->%d has latency %g, want %g", a.From, a.To, a.Latency, want)
		}
	}
	levels := r.Hierarchy.Levels()
	if len(levels) != 1 || levels[0].Name != "level 1" || math.Abs(levels[0].Latency-10e-6) > 1e-11 || levels[0].Confidence < 0.99 {
		t.Errorf("levels = %+v, want one of 10 us with confidence 1", levels)
	}
	if r.Fit.Family != topology.FamilyTree || r.Fit.R2 < 0.999999 || r.Fit.Residual > 1e-6 {
		t.Errorf("fit = %+v, want a tree that explains everything", r.Fit)
	}
}

// A root with two children only is one link between their switches.
func TestLinkageSuppressesSwitchesOfDegreeTwo(t *testing.T) {
	r := reconstruct(t, blocks(2, 4, 10e-6, 30e-6))
	if r.Graph.Vertices() != 10 {
		t.Fatalf("%d vertices, want 8 hosts and 2 switches", r.Graph.Vertices())
	}
	if w, ok := r.Graph.Weighted().Weight(8, 9); !ok || math.Abs(w-20e-6) > 1e-11 {
		t.Errorf("link between the switches: %g, %v, want 20 us", w, ok)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "s0 to s1") }) {
		t.Errorf("warnings %q do not name s0 and s1", r.Warnings)
	}
}

func TestLinkageOfEqualLatencies(t *testing.T) {
	for _, v := range []float64{0, 1e-6} {
		for _, n := range []int{3, 4, 33} {
			r := reconstruct(t, blocks(1, n, v, v))
			if groups := hostGroups(r); len(groups) != 0 || r.Graph.Vertices() != n+1 || r.Fit.Family != topology.FamilyFlat {
				t.Errorf("%d hosts at %g: groups %v, %d vertices, family %s, want one switch", n, v, groups, r.Graph.Vertices(), r.Fit.Family)
			}
		}
	}
}

func TestLinkageTakesZerosOfACoarseTimer(t *testing.T) {
	r := reconstruct(t, blocks(4, 4, 0, 1e-6))
	if got := len(r.Hierarchy.Groups()) - 1; got != 4 {
		t.Errorf("%d groups, want 4", got)
	}
}

// A matrix of nothing but zeros says nothing about times: none is made up.
func TestLinkageOfNothingButZeros(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		r := reconstruct(t, blocks(1, n, 0, 0))
		if got := r.Hierarchy.Groups()[0].Latency; len(r.Hierarchy.Groups()) != 1 || got != 0 {
			t.Errorf("%d hosts: %d groups and a latency of %g s, want the root alone and 0", n, len(r.Hierarchy.Groups()), got)
		}
		if !slices.Contains(r.Warnings, "every latency is zero, which tells nothing of how the hosts are wired") {
			t.Errorf("%d hosts: warnings %q, want that all is zero", n, r.Warnings)
		}
		for _, a := range r.Graph.Arcs() {
			if a.Latency != 0 {
				t.Errorf("%d hosts: arc %+v, want a latency of 0", n, a)
			}
		}
	}
}

func TestLinkageRefusesBadInput(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		name string
		reps []mat.Matrix
		want string
	}{
		{"nothing", nil, "no matrix"},
		{"not square", []mat.Matrix{mat.NewDense(2, 3, nil)}, "2 x 3"},
		{"repetitions of different size", []mat.Matrix{mat.NewDense(2, 2, nil), mat.NewDense(3, 3, nil)}, "3 x 3"},
		{"infinite", []mat.Matrix{mat.NewDense(3, 3, []float64{nan, 1, 1, 1, nan, inf, 1, inf, nan})}, "hosts 1 and 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := (&linkage.Robust{}).Reconstruct(tt.reps...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := (&linkage.Robust{MinConfidence: 2}).Reconstruct(blocks(2, 2, 1, 2)); err == nil || !strings.Contains(err.Error(), "MinConfidence") {
		t.Errorf("MinConfidence 2: error %v, want one that names the field", err)
	}
}

func TestLinkageOfDisconnectedHosts(t *testing.T) {
	d := blocks(2, 4, 1e-6, nan)
	if _, err := (&linkage.Robust{}).Reconstruct(d); !errors.Is(err, topology.ErrDisconnected) {
		t.Errorf("error %v, want ErrDisconnected", err)
	}
	if _, err := (&linkage.Robust{}).Reconstruct(blocks(1, 2, nan, nan)); !errors.Is(err, topology.ErrDisconnected) {
		t.Errorf("two hosts never measured: error %v, want ErrDisconnected", err)
	}
	d.Set(0, 4, 2e-6) // one measurement joins the parts
	if _, err := (&linkage.Robust{}).Reconstruct(d); err != nil {
		t.Errorf("one measurement between the parts: %v", err)
	}
}

// Up to 30 % of the pairs may be missing.
func TestLinkageWithHoles(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := blocks(4, 8, 10e-6, 20e-6)
		for i := range 32 {
			for j := range i {
				v := d.At(i, j) * (1 + 0.01*rng.NormFloat64())
				if rng.Float64() < 0.3 {
					v = nan
				}
				d.Set(i, j, v)
				d.Set(j, i, v)
			}
		}
		r := reconstruct(t, d)
		want := [][]int{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}, {16, 17, 18, 19, 20, 21, 22, 23}, {24, 25, 26, 27, 28, 29, 30, 31}}
		if got := hostGroups(r); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("seed %d: groups %v, want four of eight", seed, got)
		}
		if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "not measured") {
			t.Errorf("warnings %q do not tell of the holes", r.Warnings)
		}
	}
}

func TestLinkageWarnsOfAsymmetry(t *testing.T) {
	d := blocks(4, 4, 10e-6, 20e-6)
	d.Set(3, 9, 90e-6)
	r := reconstruct(t, d)
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "3 and 9 by a factor of 4.5") }) {
		t.Errorf("warnings %q do not name the pair", r.Warnings)
	}
	if got := len(hostGroups(r)); got != 4 {
		t.Errorf("%d groups, want 4: the faster direction counts", got)
	}
}
