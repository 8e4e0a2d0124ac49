package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
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
		Nested{},
		Nested{Agglomerative: Agglomerative{Linkage: Single}},
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
	for _, r := range []topology.Reconstructor{Flat{HDBSCAN{}}, Nested{}} {
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

// TestReconstructorsOfUncertainInput: what each method makes of little, of cells
// that were not measured, of zeros, and of directions that differ.
func TestReconstructorsOfUncertainInput(t *testing.T) {
	nan := math.NaN()
	pairs := []float64{nan, 1, 9, 9, 1, nan, 9, 9, 9, 9, nan, 1, 9, 9, 1, nan}
	set := func(i, j int, v float64) *mat.Dense {
		m := mat.NewDense(4, 4, slices.Clone(pairs))
		m.Set(i, j, v)
		return m
	}
	clean := set(0, 0, nan)
	methods := []topology.Reconstructor{
		Flat{HDBSCAN{}},
		Flat{KMedoids{K: 1}},
		Flat{Agglomerative{}},
		Flat{DBSCAN{Eps: 1, MinPoints: 1}},
		Flat{DBSCAN{}},
		Nested{},
		Nested{Agglomerative: Agglomerative{Linkage: Complete}},
	}
	for _, c := range []struct {
		name     string
		reps     []mat.Matrix
		hosts    int
		warnings int
		refused  bool
	}{
		{"one host", []mat.Matrix{mat.NewDense(1, 1, nil)}, 1, 0, false},
		{"two hosts", []mat.Matrix{mat.NewDense(2, 2, []float64{0, 1, 1, 0})}, 2, 0, false},
		{"all zeros", []mat.Matrix{mat.NewDense(5, 5, nil)}, 5, 0, false},
		{"a zero", []mat.Matrix{set(0, 1, 0)}, 4, 1, false},
		{"one direction", []mat.Matrix{set(0, 2, nan)}, 4, 0, false},
		{"a cell that one repetition lacks", []mat.Matrix{set(0, 2, nan), clean}, 4, 0, false},
		{"directions that differ", []mat.Matrix{set(3, 1, 12)}, 4, 1, false},
		{"a pair not measured", []mat.Matrix{mat.NewDense(2, 2, []float64{0, nan, nan, 0})}, 0, 0, true},
		{"parts not joined", []mat.Matrix{mat.NewDense(4, 4, []float64{nan, 1, nan, nan, 1, nan, nan, nan, nan, nan, nan, 1, nan, nan, 1, nan})}, 0, 0, true},
		{"below zero", []mat.Matrix{set(0, 2, -1)}, 0, 0, true},
		{"not square", []mat.Matrix{mat.NewDense(2, 3, nil)}, 0, 0, true},
	} {
		for _, m := range methods {
			r, err := m.Reconstruct(c.reps...)
			if c.refused {
				if err == nil || !strings.HasPrefix(err.Error(), "cluster: ") {
					t.Errorf("%T of %s: %v, want an error", m, c.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%T of %s: %v", m, c.name, err)
				continue
			}
			if r.Graph.Hosts() != c.hosts || r.Hierarchy.Hosts() != c.hosts || len(r.Warnings) != c.warnings {
				t.Errorf("%T of %s: %d hosts, warnings %q, want %d, %d", m, c.name, r.Graph.Hosts(), r.Warnings, c.hosts, c.warnings)
			}
		}
	}
	r, err := Nested{}.Reconstruct(set(3, 1, 12))
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "hosts 3 and 1") {
		t.Errorf("%v, %v: want a warning that names hosts 3 and 1", r, err)
	}
}

// The latencies of Flat's groups, by the definition: of every group on its own. Groups
// of one distance each tell them apart.
func TestFlatLatencies(t *testing.T) {
	for _, sizes := range [][]int{{3, 1, 5, 2}, {4}, {1, 1, 1}, {2, 2}} {
		var own []int
		for c, size := range sizes {
			for range size {
				own = append(own, c)
			}
		}
		n := len(own)
		m := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				m.Set(i, j, 100+float64((i+1)*(j+1)))
				if own[i] == own[j] {
					m.Set(i, j, float64(own[i]+1))
				}
			}
		}
		result, err := Flat{fixed(own)}.Reconstruct(m)
		if err != nil {
			t.Fatal(err)
		}
		groups := result.Hierarchy.Groups()[1:]
		want := 0
		for c, size := range sizes {
			if size < 2 || size == n {
				continue
			}
			if want >= len(groups) || len(groups[want].Hosts) != size || groups[want].Latency != float64(c+1) {
				t.Errorf("sizes %v: groups %+v, want one of %d hosts at %d", sizes, groups, size, c+1)
				break
			}
			want++
		}
		if len(groups) != want {
			t.Errorf("sizes %v: %d groups, want %d", sizes, len(groups), want)
		}
		if apart := result.Hierarchy.Groups()[0].Latency; len(sizes) > 1 && apart <= 100 || len(sizes) == 1 && apart != 1 {
			t.Errorf("sizes %v: root latency %g", sizes, apart)
		}
	}
}

// fixed are labels that do not depend on the distances.
type fixed Labels

func (f fixed) Cluster(mat.Symmetric) (Labels, error) { return Labels(f), nil }

// BenchmarkFlatOfPairs has as many groups as half the hosts: ns per pair must not grow.
func BenchmarkFlatOfPairs(b *testing.B) {
	for _, n := range []int{512, 2048} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			own := make([]int, n)
			for i := range own {
				own[i] = i / 2
			}
			m := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					m.Set(i, j, float64(2+(i^j)/2))
				}
			}
			for b.Loop() {
				if _, err := (Flat{fixed(own)}).Reconstruct(m); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*(n-1)/2), "ns/pair")
		})
	}
}

// TestDefaultsLieOnPlateaus: methods find all groups of noisy trees, and no
// others, with settings well to both sides of their defaults. The ends of the plateaus
// were found by trying; 1.05 and 2 are beyond them.
func TestDefaultsLieOnPlateaus(t *testing.T) {
	groups := func(h *topology.Hierarchy) [][]int {
		var all [][]int
		for _, g := range h.Groups()[1:] {
			all = append(all, g.Hosts)
		}
		slices.SortFunc(all, slices.Compare)
		return all
	}
	for k, spec := range []string{
		"tree:4x8 latency=3us,1us", "tree:4x8 latency=1.5us,1us", "tree:3x4x5 latency=4us,2us,1us", "tree:2x4x8 latency=2.4us,1.5us,1us",
		"tree:6x3 latency=2us,1us", "tree:3x3x3 latency=4us,2us,1us", "tree:8x16 latency=2us,1us",
	} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := c.Latencies()
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			rng := rand.New(rand.NewPCG(seed, uint64(k)))
			var reps []mat.Matrix
			for range 3 {
				m, err := gen.Noise{Sigma: 0.02, Outliers: 0.02}.Apply(rng, exact)
				if err != nil {
					t.Fatal(err)
				}
				reps = append(reps, m)
			}
			for _, r := range []topology.Reconstructor{
				Nested{Ratio: 1.1},
				Nested{},
				Nested{Ratio: 1.7},
			} {
				result, err := r.Reconstruct(reps...)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := groups(result.Hierarchy), groups(c.Hierarchy); !slices.EqualFunc(got, want, slices.Equal) {
					t.Errorf("%T%+v of %s, seed %d: %d groups, want %d: %v", r, r, spec, seed, len(got), len(want), got)
				}
			}
		}
	}
}
