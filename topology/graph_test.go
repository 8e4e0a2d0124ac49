package topology

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
)

// twoRacks is a small tree: hosts 0, 1 on switch 4, hosts 2, 3 on switch 5.
func twoRacks(t *testing.T) *Graph {
	t.Helper()
	var arcs []Arc
	for _, l := range [][2]int{{0, 4}, {1, 4}, {2, 5}, {3, 5}} {
		arcs = AppendLink(arcs, l[0], l[1], 1e-6, 1e9)
	}
	arcs = AppendLink(arcs, 4, 5, 3e-6, 2e9)
	g, err := NewGraph(4, 2, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestWeightedIsTheGraphForGonum(t *testing.T) {
	g := twoRacks(t).Weighted()
	// Path latencies by hand: 1 + 1 inside a rack, 1 + 3 + 1 between racks.
	all := path.DijkstraAllPaths(g)
	for _, c := range []struct {
		u, v int64
		want float64
	}{{0, 1, 2e-6}, {0, 2, 5e-6}, {3, 1, 5e-6}, {4, 5, 3e-6}} {
		if got := all.Weight(c.u, c.v); math.Abs(got-c.want) > 1e-18 {
			t.Errorf("latency %d->%d = %g, want %g", c.u, c.v, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		nodes graph.Nodes
		want  []int64
	}{
		"all": {g.Nodes(), []int64{0, 1, 2, 3, 4, 5}}, "from 4": {g.From(4), []int64{0, 1, 5}}, "to 5": {g.To(5), []int64{2, 3, 4}},
	} {
		if got := ids(c.nodes); !slices.Equal(got, c.want) {
			t.Errorf("nodes, %s: %v, want %v", name, got, c.want)
		}
	}
	if w, ok := g.Weight(0, 1); ok || !math.IsInf(w, 1) {
		t.Errorf("Weight(0, 1) = %g, %t, want +Inf, false", w, ok)
	}
}

// ids are the numbers of nodes, ascending.
func ids(nodes graph.Nodes) []int64 {
	var all []int64
	for nodes.Next() {
		all = append(all, nodes.Node().ID())
	}
	slices.Sort(all)
	return all
}

func TestNewGraphRefuses(t *testing.T) {
	ok := Arc{From: 0, To: 1, Latency: 1, Bandwidth: 1, Probability: 1}
	for name, c := range map[string]struct {
		change func(*Arc)
		want   string
	}{
		"a vertex that does not exist": {func(a *Arc) { a.To = 3 }, "outside"},
		"a loop":                       {func(a *Arc) { a.To = 0 }, "loop"},
		"a negative latency":           {func(a *Arc) { a.Latency = -1 }, "latency"},
		"a bandwidth of zero":          {func(a *Arc) { a.Bandwidth = 0 }, "bandwidth"},
		"an infinite bandwidth":        {func(a *Arc) { a.Bandwidth = math.Inf(1) }, "bandwidth +Inf B/s"},
		"an infinite latency":          {func(a *Arc) { a.Latency = math.Inf(1) }, "latency +Inf s"},
		"a probability above 1":        {func(a *Arc) { a.Probability = 2 }, "probability"},
	} {
		a := ok
		c.change(&a)
		if _, err := NewGraph(2, 1, nil, []Arc{a}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	if _, err := NewGraph(2, 1, nil, []Arc{ok, ok}); err == nil {
		t.Error("an arc given twice: no error")
	}
	if _, err := NewGraph(2, 1, []string{"a"}, nil); err == nil {
		t.Error("too few names: no error")
	}
}

func TestHierarchyNests(t *testing.T) {
	// Eight hosts: pairs inside a four, a pair on its own, and two loose hosts.
	levels := []Level{{Name: "core", Latency: 1}, {Name: "socket", Latency: 2}}
	h, err := NewHierarchy(8, levels, []Group{
		{Hosts: []int{5, 4}, Level: 0, Latency: 1},
		{Hosts: []int{3, 1}, Level: 0, Latency: 1},
		{Hosts: []int{0, 1, 2, 3}, Level: 1, Latency: 2},
		{Hosts: []int{2, 0}, Level: 0, Latency: 1},
	}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 0, 0}, {0, 2, 1}, {1, 3, 1}, {0, 1, 2}, {4, 5, 1}, {4, 0, 4}, {6, 7, 4}, {5, 6, 4}} {
		if got := h.Latency(c.a, c.b); got != c.want {
			t.Errorf("Latency(%d, %d) = %g, want %g", c.a, c.b, got, c.want)
		}
	}
	for i, g := range h.Groups() {
		if i > 0 && g.Parent >= i {
			t.Errorf("group %d comes before its parent %d", i, g.Parent)
		}
	}
	if at := h.GroupsAt(0); len(at) != 3 || at[0].Hosts[0] != 0 || at[1].Hosts[0] != 1 || at[2].Hosts[0] != 4 {
		t.Errorf("GroupsAt(0) = %v", at)
	}
}

func TestNewHierarchyRefuses(t *testing.T) {
	levels := []Level{{}, {}}
	for name, groups := range map[string][]Group{
		"a group of one":                   {{Hosts: []int{0}}},
		"a group of all":                   {{Hosts: []int{0, 1, 2, 3}}},
		"a host outside":                   {{Hosts: []int{0, 4}}},
		"a host given twice":               {{Hosts: []int{0, 0}}},
		"a level that does not exist":      {{Hosts: []int{0, 1}, Level: 2}},
		"groups that overlap":              {{Hosts: []int{0, 1}}, {Hosts: []int{1, 2}}},
		"groups that overlap across":       {{Hosts: []int{0, 1}, Level: 1}, {Hosts: []int{1, 2}}},
		"a nested group of the same level": {{Hosts: []int{0, 1, 2}}, {Hosts: []int{1, 2}}},
	} {
		if _, err := NewHierarchy(4, levels, groups, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestConfidentDropsUncertainGroups(t *testing.T) {
	h, err := NewHierarchy(6, []Level{{Name: "a"}, {Name: "b"}}, []Group{
		{Hosts: []int{0, 1}, Level: 0, Confidence: 0.4},
		{Hosts: []int{0, 1, 2}, Level: 1, Confidence: 0.95},
		{Hosts: []int{3, 4}, Level: 1, Confidence: math.NaN()},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := h.Confident(0.5)
	if len(f.Levels()) != 1 || f.Levels()[0].Name != "b" || len(f.GroupsAt(0)) != 2 {
		t.Errorf("Confident(0.5) has levels %v and groups %v", f.Levels(), f.Groups())
	}
}

// TestCommonAgainstScan compares Join with the smallest group found by looking at all of them.
func TestCommonAgainstScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 2 + rng.IntN(30)
		perm := rng.Perm(n)
		var levels []Level
		var groups []Group
		// Cut the permutation in blocks of 2, 4, 8 hosts, leave some blocks out.
		for size := 2; size < n; size *= 2 {
			for at := 0; at+size <= n; at += size {
				if rng.IntN(4) > 0 {
					groups = append(groups, Group{Hosts: perm[at : at+size], Level: len(levels)})
				}
			}
			levels = append(levels, Level{})
		}
		h, err := NewHierarchy(n, levels, groups, 1)
		if err != nil {
			t.Fatal(err)
		}
		for a := range n {
			for b := range n {
				want, size := 0, n+1
				for i, g := range h.Groups() {
					if len(g.Hosts) < size && slices.Contains(g.Hosts, a) && slices.Contains(g.Hosts, b) {
						want, size = i, len(g.Hosts)
					}
				}
				if a != b && h.Common(a, b) != want {
					t.Fatalf("Common(%d, %d) = %d, want %d", a, b, h.Common(a, b), want)
				}
			}
		}
	}
}
