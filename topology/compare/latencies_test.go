package compare_test

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
	"github.com/topocast/topocast/topology/compare"
	"gonum.org/v1/gonum/mat"
)

// compareLatencies holds measured latencies between the hosts of a reference against it, without a wiring that was found. A
// link may be half as slow again.
func compareLatencies(t *testing.T, latencies mat.Matrix, reference *topology.Graph) *compare.LinkComparison {
	t.Helper()
	c, err := compare.LinksOfLatencies(latencies, reference, &compare.LinkSettings{Tolerance: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Reference: Bannikov and Salnikov 2014, section 2.3, items 4 and 5. A ring of
// four nodes, with two processes on the first. By hand: of the eight specified arcs
// 0->1 has probability 1 (the greater of two), 1->0 a half, 1-2 and 2-3 are
// there, 3-0 is not: (1 + 0.5 + 4)/8 = 68.75 %. 0-2 is not specified.
func TestSimilarityByHand(t *testing.T) {
	reference := topotest.Graph(t, 4, 0, []string{"a", "b", "c", "d"}, [3]float64{0, 1, 1}, [3]float64{1, 2, 1}, [3]float64{2, 3, 1}, [3]float64{3, 0, 1})
	arc := func(u, v int, p float64) topology.Arc {
		return topology.Arc{From: u, To: v, Latency: 1, Bandwidth: math.NaN(), Probability: p}
	}
	measured, err := topology.NewGraph(5, 0, []string{"c", "a", "d", "a", "b"}, []topology.Arc{
		arc(1, 4, 0.25), arc(3, 4, 1), arc(4, 1, 0.5), arc(4, 0, 1), arc(0, 4, 1), arc(0, 2, 1), arc(2, 0, 1), arc(1, 3, 1), arc(3, 0, 0.5),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := compare.Similarity(measured, reference); math.Abs(got-68.75) > 1e-9 {
		t.Errorf("similarity %g %%, want 68.75 %%", got)
	}
}

// Hosts 3 and 20 of a tree have changed places: the cable list is wrong.
func TestCompareFindsMiscabledHosts(t *testing.T) {
	for _, spec := range []string{"tree:4x8 latency=3us,1us", "tree:4x4x8 latency=2us,1us,1us", "torus:4x4 hosts=4 latency=1us"} {
		t.Run(spec, func(t *testing.T) { miscabled(t, spec) })
	}
}

func miscabled(t *testing.T, spec string) {
	c, d := topotest.Generate(t, spec)
	n := c.Graph.Hosts()
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	perm[3], perm[20] = 20, 3
	for seed := range uint64(5) {
		m, err := gen.Noise{Sigma: 0.02, Outliers: 0.01}.Apply(rand.New(rand.NewPCG(seed, 1)), gen.RelabelMatrix(d, perm))
		if err != nil {
			t.Fatal(err)
		}
		got := compareLatencies(t, m, c.Graph)
		if len(got.Findings) != 2 {
			t.Fatalf("seed %d: found %q, want the hosts 3 and 20", seed, found(got))
		}
		for _, f := range got.Findings {
			var other int
			switch f.Hosts[0] {
			case c.Graph.Name(3):
				other = 20
			case c.Graph.Name(20):
				other = 3
			default:
				t.Errorf("seed %d: found %v, want the hosts 3 and 20", seed, f)
				continue
			}
			if f.Kind != "moved" || !slices.Contains(f.To, c.Graph.Name(other)) {
				t.Errorf("seed %d: found %v, want it on the switch of %s", seed, f, c.Graph.Name(other))
			}
		}
	}
}

func TestCompareFindsASlowLink(t *testing.T) {
	c, d := topotest.Generate(t, "tree:3x8 latency=3us,1us")
	for j := range 24 {
		if j != 5 {
			d.Set(5, j, d.At(5, j)+1.5e-6)
			d.Set(j, 5, d.At(j, 5)+1.5e-6)
		}
	}
	wantFound(t, compareLatencies(t, d, c.Graph), "slow h5 2.50")
}

func TestCompareOfTheSameMachineSuspectsNothing(t *testing.T) {
	for _, spec := range []string{"tree:4x8 latency=3us,1us", "torus:4x6", "ring:6 hosts=4", "fattree:4", "star:2"} {
		c, d := topotest.Generate(t, spec)
		d.Scale(1+6e-8, d) // as a float32 may round
		if got := compare.Similarity(c.Graph, c.Graph); !math.IsNaN(got) && math.Abs(got-100) > 1e-9 {
			t.Errorf("%s: similarity %g %%, want 100 %% or NaN", spec, got)
		}
		wantFound(t, compareLatencies(t, d, c.Graph))
	}
}

// By hand: {2, 3, 4} became {2, 3} as host 4 moved to {5, 6}; {0, 1} is the same.
func TestCompareGroups(t *testing.T) {
	hierarchy := func(groups ...[]int) *topology.Hierarchy {
		var gs []topology.Group
		for _, hs := range groups {
			gs = append(gs, topology.Group{Hosts: hs})
		}
		h, err := topology.NewHierarchy(7, []topology.Level{{}}, gs, 1)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	reference := hierarchy([]int{0, 1}, []int{2, 3, 4}, []int{5, 6})
	c, err := compare.Groups(hierarchy([]int{0, 1}, []int{2, 3}, []int{4, 5, 6}), reference)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(c.Same, c.Missing, c.Extra), "[[0 1]] [[2 3 4] [5 6]] [[2 3] [4 5 6]]"; got != want {
		t.Errorf("same, missing, extra = %s, want %s", got, want)
	}
	if want := []int{4}; !slices.Equal(c.Moved, want) {
		t.Errorf("moved %v, want host 4", c.Moved)
	}
	if got, want := fmt.Sprint(c.Crossed), "[{[2 3 4] [4 5 6]}]"; got != want {
		t.Errorf("crossed %s, want %s", got, want)
	}
	// Part of a group, and two groups together, are no contradiction.
	if c, err = compare.Groups(hierarchy([]int{2, 3}, []int{0, 1, 5, 6}), reference); err != nil || len(c.Crossed) > 0 || len(c.Missing) != 3 {
		t.Errorf("groups that nest: %v, crossed %v, missing %v", err, c.Crossed, c.Missing)
	}
	if c, err = compare.Groups(reference, reference); err != nil || len(c.Crossed) > 0 || len(c.Same) != 3 || len(c.Missing)+len(c.Extra)+len(c.Moved) > 0 {
		t.Errorf("compared with itself: %v, %v, want three groups the same and nothing else", c, err)
	}
	small, err := topology.NewHierarchy(2, nil, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := compare.Groups(small, reference); err == nil {
		t.Errorf("of other hosts: %v, want an error", c)
	}
}

// Whether hosts are wired to each other is the reference's to say: of a ring of which nothing was found the similarity
// is 0, and hosts on switches that were found wired to each other have none.
func TestSimilarityIsOfTheReference(t *testing.T) {
	ring := topotest.Graph(t, 4, 0, nil, [3]float64{0, 1, 1}, [3]float64{1, 2, 1}, [3]float64{2, 3, 1}, [3]float64{3, 0, 1})
	nothing, err := topology.NewGraph(4, 1, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	star := topotest.Graph(t, 4, 1, nil, [3]float64{0, 4, 1}, [3]float64{1, 4, 1}, [3]float64{2, 4, 1}, [3]float64{3, 4, 1})
	if got := compare.Similarity(nothing, ring); got != 0 {
		t.Errorf("of a ring of which nothing was found: %g %%, want 0", got)
	}
	if got := compare.Similarity(ring, star); !math.IsNaN(got) {
		t.Errorf("of a star: %g %%, want NaN", got)
	}
	two := topotest.Graph(t, 2, 0, []string{"a", "b"}, [3]float64{0, 1, 1})
	if got := compare.Similarity(topotest.Graph(t, 2, 0, []string{"a", "a"}, [3]float64{0, 1, 1}), two); !math.IsNaN(got) {
		t.Errorf("of two processes of one node: %g %%, want NaN: the other node was not measured", got)
	}
}

// What cannot be said is said, and is not "nothing differs".
func TestCompareSaysWhatItCannotTell(t *testing.T) {
	wire := topotest.Graph(t, 5, 1, nil, [3]float64{0, 5, 1}, [3]float64{1, 5, 1}, [3]float64{2, 5, 1}, [3]float64{3, 5, 1}, [3]float64{4, 5, 1})
	apart, err := topology.NewGraph(5, 1, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for _, c := range []struct {
		name      string
		reference *topology.Graph
		time      float64
		want      string
	}{
		{"no path", apart, 1, "no measurement follows a path"},
		{"nothing measured", wire, nan, "no measurement follows a path"},
		{"all is known", wire, 1, ""},
	} {
		got := compareLatencies(t, mat.NewDense(5, 5, slices.Repeat([]float64{c.time}, 25)), c.reference)
		if !strings.Contains(got.Unknown, c.want) || c.want == "" && got.Unknown != "" {
			t.Errorf("%s: unknown is %q, want %q", c.name, got.Unknown, c.want)
		}
	}
}

// The link of a host is listed from one and a half times what is usual on its switch.
func TestCompareListsLinksFromOneAndAHalf(t *testing.T) {
	c, _ := topotest.Generate(t, "star:6 latency=1us")
	for times, want := range map[float64]int{1.4: 0, 1.6: 1} {
		measured := changed(t, c.Graph, func(a *topology.Arc) {
			if on(a, 2, 6) {
				a.Latency *= times
			}
		})
		d, err := (&gen.Cluster{Graph: measured}).Latencies()
		if err != nil {
			t.Fatal(err)
		}
		got := compareLatencies(t, d, c.Graph)
		if len(got.Findings) != want || want > 0 && (found(got)[0][:7] != "slow h2" || math.Abs(got.Findings[0].Times-times) > 0.01) {
			t.Errorf("a link %g times as slow: found %q, want %d", times, found(got), want)
		}
	}
}

// Two of nine hosts are in each other's place: eight measurements each are enough, though
// 5 % of noise leave a tenth of a step of 1 us unexplained where they are.
func TestCompareFindsExchangedHostsOfSmallMachines(t *testing.T) {
	for _, spec := range []string{"tree:3x3 latency=2us,1us", "tree:2x4 latency=3us,1us"} {
		c, d := topotest.Generate(t, spec)
		place := make([]int, c.Graph.Hosts())
		for h := range place {
			place[h] = h
		}
		place[1], place[5] = 5, 1
		for seed := range uint64(10) {
			m, err := gen.Noise{Sigma: 0.05}.Apply(rand.New(rand.NewPCG(seed, 2)), gen.RelabelMatrix(d, place))
			if err != nil {
				t.Fatal(err)
			}
			var moved []string
			for _, f := range compareLatencies(t, m, c.Graph).Findings {
				if f.Kind == "moved" {
					moved = append(moved, f.Hosts[0])
				}
			}
			slices.Sort(moved)
			if !slices.Equal(moved, []string{"h1", "h5"}) {
				t.Errorf("%s, seed %d: moved %v, want h1 and h5", spec, seed, moved)
			}
		}
	}
}
