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

func compareGraphs(t *testing.T, measured *topology.Graph, times mat.Matrix, reference *topology.Graph, bytes float64) *compare.Comparison {
	t.Helper()
	c, err := compare.Graphs(measured, times, reference, &compare.Settings{Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

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

// fromLinks makes a graph of undirected links {u, v, bandwidth}.
func fromLinks(t *testing.T, hosts, switches int, names []string, links ...[3]float64) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for _, l := range links {
		arcs = topology.AppendLink(arcs, int(l[0]), int(l[1]), math.NaN(), l[2])
	}
	g, err := topology.NewGraph(hosts, switches, names, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Reference: Bannikov and Salnikov 2014, section 2.3, items 4 and 5. A ring of
// four nodes, with two processes on the first. By hand: of the eight specified arcs
// 0->1 has probability 1 (the greater of two), 1->0 a half, 1-2 and 2-3 are
// there, 3-0 is not: (1 + 0.5 + 4)/8 = 68.75 %. 0-2 is not specified.
func TestCompareRegular(t *testing.T) {
	reference := fromLinks(t, 4, 0, []string{"a", "b", "c", "d"}, [3]float64{0, 1, 1}, [3]float64{1, 2, 1}, [3]float64{2, 3, 1}, [3]float64{3, 0, 1})
	arc := func(u, v int, p float64) topology.Arc {
		return topology.Arc{From: u, To: v, Latency: 1, Bandwidth: math.NaN(), Probability: p}
	}
	measured, err := topology.NewGraph(5, 0, []string{"c", "a", "d", "a", "b"}, []topology.Arc{
		arc(1, 4, 0.25), arc(3, 4, 1), arc(4, 1, 0.5), arc(4, 0, 1), arc(0, 4, 1), arc(0, 2, 1), arc(2, 0, 1), arc(1, 3, 1), arc(3, 0, 0.5),
	})
	if err != nil {
		t.Fatal(err)
	}
	times := mat.NewDense(5, 5, slices.Repeat([]float64{1}, 25))
	c := compareGraphs(t, measured, times, reference, 0)
	if math.Abs(c.Similarity-68.75) > 1e-9 || !c.Regular {
		t.Errorf("similarity %g %%, regular %v, want 68.75 %%, true", c.Similarity, c.Regular)
	}
	var got []string
	for _, l := range c.Links {
		got = append(got, fmt.Sprintf("%d-%d %s %g", l.U, l.V, l.Verdict, l.Probability))
	}
	if want := []string{"0-1 found 0.75", "0-3 missing 0", "1-2 found 1", "2-3 found 1", "0-2 extra 0.25"}; !slices.Equal(got, want) {
		t.Errorf("links = %q, want %q", got, want)
	}
}

// Reference: Bannikov and Salnikov 2014, section 2.3, items 6 and 7, equations 3
// and 4. Nodes a, b on one switch, c on another, bandwidths 2, 2, 1 and 4 between the
// switches; d on the second was not measured. By hand, with M(a,b) = 8, M(a,c) =
// M(b,c) = 7 both ways: a-b is shared out 1/2 : 1/2, that is 4 and 4; a-c by
// 1/2 : 1/4 : 1, that is 2, 1 and 4. Means: the link of a (4+2)/2 = 3, so of b;
// of c 4, between the switches 1. Specified, for messages of 6: 3, 3, 6, 1.5;
// a message of 5 makes the first two 2.5.
func TestCompareHierarchical(t *testing.T) {
	reference := fromLinks(t, 4, 2, []string{"a", "b", "c", "d", "s", "t"},
		[3]float64{0, 4, 2}, [3]float64{1, 4, 2}, [3]float64{2, 5, 1}, [3]float64{3, 5, 1}, [3]float64{4, 5, 4})
	measured := fromLinks(t, 3, 0, []string{"a", "b", "c"}, [3]float64{0, 1, 1}, [3]float64{0, 2, 1}, [3]float64{1, 2, 1})
	// The same machine as a method with switches finds it: its hosts meet too.
	switched := fromLinks(t, 3, 2, []string{"a", "b", "c", "x", "y"}, [3]float64{0, 3, 1}, [3]float64{1, 3, 1}, [3]float64{3, 4, 1}, [3]float64{2, 4, 1})
	times := mat.NewDense(3, 3, []float64{0, 8, 7, 8, 0, 7, 7, 7, 0})
	for _, c := range []struct {
		measured *topology.Graph
		bytes    float64
		want     []string
	}{
		{measured, 6, []string{"0-4 fast 3 3 4", "1-4 fast 3 3 4", "2-5 fast 4 6 4", "3-5 unused NaN 6 0", "4-5 fast 1 1.5 4"}},
		{measured, 5, []string{"0-4 slow 3 2.5 4", "1-4 slow 3 2.5 4", "2-5 fast 4 5 4", "3-5 unused NaN 5 0", "4-5 fast 1 1.25 4"}},
		{measured, 0, []string{"0-4 found 3 NaN 4", "1-4 found 3 NaN 4", "2-5 found 4 NaN 4", "3-5 unused NaN NaN 0", "4-5 found 1 NaN 4"}},
		{switched, 5, []string{"0-4 slow 3 2.5 4", "1-4 slow 3 2.5 4", "2-5 fast 4 5 4", "3-5 unused NaN 5 0", "4-5 fast 1 1.25 4"}},
	} {
		got := compareGraphs(t, c.measured, times, reference, c.bytes)
		if got.Similarity != 0 || got.Regular {
			t.Errorf("similarity %g, regular %v, want 0, false", got.Similarity, got.Regular)
		}
		var links []string
		for _, l := range got.Links {
			links = append(links, fmt.Sprintf("%d-%d %s %.6g %.6g %d", l.U, l.V, l.Verdict, l.Measured, l.Ideal, l.Paths))
		}
		if !slices.Equal(links, c.want) {
			t.Errorf("%g bytes: links = %q, want %q", c.bytes, links, c.want)
		}
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
			if f.Kind != compare.FoundMoved || !slices.Contains(f.To, c.Graph.Name(other)) {
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
		got := compareGraphs(t, c.Graph, d, c.Graph, 0)
		if got.Regular && math.Abs(got.Similarity-100) > 1e-9 {
			t.Errorf("%s: similarity %g %%, want 100 %% or 0", spec, got.Similarity)
		}
		wantFound(t, compareLatencies(t, d, c.Graph))
		for _, l := range got.Links {
			if l.Verdict == compare.LinkSlow || l.Verdict == compare.LinkUnused && spec != "fattree:4" {
				t.Errorf("%s: link %v is slower than itself, or not used", spec, l)
			}
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	two := fromLinks(t, 2, 0, []string{"a", "b"}, [3]float64{0, 1, 1})
	other := fromLinks(t, 2, 0, []string{"a", "c"}, [3]float64{0, 1, 1})
	same := fromLinks(t, 2, 0, []string{"a", "a"}, [3]float64{0, 1, 1})
	d := mat.NewDense(2, 2, nil)
	for _, c := range []struct {
		name                string
		measured, reference *topology.Graph
		times               mat.Matrix
		bytes               float64
	}{
		{"a host that is not specified", two, other, d, 0},
		{"two specified hosts of one name", two, same, d, 0},
		{"times of other hosts", two, two, mat.NewDense(3, 3, nil), 0},
		{"Bytes below 0", two, two, d, -1},
	} {
		if got, err := compare.Graphs(c.measured, c.times, c.reference, &compare.Settings{Bytes: c.bytes}); err == nil {
			t.Errorf("%s: %v, want an error", c.name, got)
		}
	}
	if got, err := compare.Graphs(same, d, two, nil); err != nil || got.Similarity != 0 {
		t.Errorf("two processes of one node: %v, %v, want similarity 0", got, err)
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
	if want := []compare.MovedHost{{Host: 4, Times: 2}}; !slices.Equal(c.Moved, want) {
		t.Errorf("moved %v, want host 4 twice", c.Moved)
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

// Whether a machine is regular is the reference's to say: of a ring of which
// nothing was found all links are missing, and its similarity is 0.
func TestCompareIsRegularIfTheReferenceIs(t *testing.T) {
	ring := fromLinks(t, 4, 0, nil, [3]float64{0, 1, 1}, [3]float64{1, 2, 1}, [3]float64{2, 3, 1}, [3]float64{3, 0, 1})
	nothing, err := topology.NewGraph(4, 1, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	times := mat.NewDense(4, 4, slices.Repeat([]float64{1}, 16))
	got := compareGraphs(t, nothing, times, ring, 0)
	if !got.Regular || got.Similarity != 0 || len(got.Links) != 4 || got.Links[0].Verdict != compare.LinkMissing {
		t.Errorf("regular %v, similarity %g, links %v, want true, 0, four missing", got.Regular, got.Similarity, got.Links)
	}
	// The reverse: hosts on switches, found wired to each other.
	star := fromLinks(t, 4, 1, nil, [3]float64{0, 4, 1}, [3]float64{1, 4, 1}, [3]float64{2, 4, 1}, [3]float64{3, 4, 1})
	if got := compareGraphs(t, ring, times, star, 0); got.Regular {
		t.Error("a star is regular as hosts were found wired to each other")
	}
}

// What cannot be said is said, and is not "nothing differs".
func TestCompareSaysWhatItCannotTell(t *testing.T) {
	wire := fromLinks(t, 5, 1, nil, [3]float64{0, 5, 1}, [3]float64{1, 5, 1}, [3]float64{2, 5, 1}, [3]float64{3, 5, 1}, [3]float64{4, 5, 1})
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

// Two of nine hosts are in each other's place: eight readings each are enough, though
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
				if f.Kind == compare.FoundMoved {
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
