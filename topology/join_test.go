package topology_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"gonum.org/v1/gonum/mat"
)

// resultWith makes a result of a graph of undirected links, with groups.
func resultWith(t *testing.T, hosts, switches int, groups [][]int, links ...[3]float64) *topology.Result {
	t.Helper()
	var arcs []topology.Arc
	for _, l := range links {
		arcs = topology.AppendLink(arcs, int(l[0]), int(l[1]), l[2], math.NaN())
	}
	g, err := topology.NewGraph(hosts, switches, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	var levels []topology.Level
	var gs []topology.Group
	for _, hs := range groups {
		levels = []topology.Level{{Name: "socket"}}
		gs = append(gs, topology.Group{Hosts: hs})
	}
	h, err := topology.NewHierarchy(hosts, levels, gs, 7)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}
}

// Two nodes, 12 apart as measured between their cores 2. In a node cores 0 and
// 1 hang on one switch, 2 and 3 on another at 1 from it, all at 0.5; a
// neighbouring node, host 4, was found at 10 from the first. By hand: the
// node's vertex is at 0 from the first switch, core 2 at 1.5 from it, so 9
// remain between the nodes' vertices.
func TestJoin(t *testing.T) {
	inter := resultWith(t, 2, 0, nil, [3]float64{0, 1, 12})
	node := resultWith(t, 5, 2, [][]int{{0, 1}, {2, 3}},
		[3]float64{0, 5, 0.5}, [3]float64{1, 5, 0.5}, [3]float64{2, 6, 0.5}, [3]float64{3, 6, 0.5}, [3]float64{5, 6, 1}, [3]float64{4, 5, 10})
	m := topology.NodeModel{Result: node, External: 4, Core: 2}
	r, err := topology.Join(inter, []topology.NodeModel{m, m})
	if err != nil {
		t.Fatal(err)
	}
	// Cores 0-3 and 4-7, nodes 8 and 9, switches 10, 11 and 12, 13.
	want := "0-10:5e+05 1-10:5e+05 2-11:5e+05 3-11:5e+05 4-12:5e+05 5-12:5e+05 6-13:5e+05 7-13:5e+05 8-9:9e+06 8-10:0 9-12:0 10-11:1e+06 12-13:1e+06"
	if got := topotest.Links(r.Graph); got != want {
		t.Errorf("links = %s, want %s", got, want)
	}
	if got, want := topotest.Groups(r.Hierarchy), []string{"[0 1 2 3]", "[0 1]", "[2 3]", "[4 5 6 7]", "[4 5]", "[6 7]"}; !slices.Equal(got, want) {
		t.Errorf("groups = %v, want %v", got, want)
	}
	if levels := r.Hierarchy.Levels(); len(levels) != 2 || levels[0].Name != "socket" || levels[1].Name != "node" {
		t.Errorf("levels = %v, want socket and node", levels)
	}
	if got := r.Graph.Name(9); got != "h1" {
		t.Errorf("name of the second node's vertex = %q, want h1", got)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %q, want none", r.Warnings)
	}
	if r, err = topology.Join(resultWith(t, 2, 0, nil, [3]float64{0, 1, 2}), []topology.NodeModel{m, m}); err != nil || len(r.Warnings) != 1 {
		t.Errorf("nodes 2 apart: warnings %q, %v, want one: the way inside is longer", r.Warnings, err)
	}
}

// The machine of TestJoin, its cores numbered round robin: of the first node they are 0, 2, 4 and 6.
func TestJoinNumbersHosts(t *testing.T) {
	inter := resultWith(t, 2, 0, nil, [3]float64{0, 1, 12})
	node := resultWith(t, 5, 2, [][]int{{0, 1}, {2, 3}},
		[3]float64{0, 5, 0.5}, [3]float64{1, 5, 0.5}, [3]float64{2, 6, 0.5}, [3]float64{3, 6, 0.5}, [3]float64{5, 6, 1}, [3]float64{4, 5, 10})
	join := func(first, second []int) (*topology.Result, error) {
		return topology.Join(inter, []topology.NodeModel{
			{Result: node, External: 4, Core: 2, Hosts: first}, {Result: node, External: 4, Core: 2, Hosts: second},
		})
	}
	r, err := join([]int{0, 2, 4, 6}, []int{1, 3, 5, 7})
	if err != nil {
		t.Fatal(err)
	}
	want := "0-10:5e+05 1-12:5e+05 2-10:5e+05 3-12:5e+05 4-11:5e+05 5-13:5e+05 6-11:5e+05 7-13:5e+05 8-9:9e+06 8-10:0 9-12:0 10-11:1e+06 12-13:1e+06"
	if got := topotest.Links(r.Graph); got != want {
		t.Errorf("links = %s, want %s", got, want)
	}
	if got, want := topotest.Groups(r.Hierarchy), []string{"[0 2 4 6]", "[0 2]", "[1 3 5 7]", "[1 3]", "[4 6]", "[5 7]"}; !slices.Equal(got, want) {
		t.Errorf("groups = %v, want %v", got, want)
	}
	if got := r.Graph.Name(5); got != "h1.h2" {
		t.Errorf("the third core of the second node is %q, want h1.h2", got)
	}
	for name, numbers := range map[string][2][]int{
		"too few":       {{0, 2, 4}, {1, 3, 5, 7}},
		"one twice":     {{0, 2, 4, 4}, {1, 3, 5, 7}},
		"beyond":        {{0, 2, 4, 8}, {1, 3, 5, 7}},
		"below":         {{-1, 2, 4, 6}, {1, 3, 5, 7}},
		"not of a node": {{0, 2, 4, 6}, nil},
	} {
		if _, err := join(numbers[0], numbers[1]); err == nil || !strings.Contains(err.Error(), "Hosts") {
			t.Errorf("%s: %v, want an error", name, err)
		}
	}
}

// Reference: Bufe 2014, section 3.3.1 and figure 3.1: the model of one Westmere
// node, ten times, joined to the model of the cluster.
func TestJoinMakesBufesFigure31(t *testing.T) {
	inter := topotest.Reconstruct(t, &clique.Switches{Epsilon: 0.05}, published.Table("3.5"))
	node := topotest.Reconstruct(t, &clique.Switches{Epsilon: 0.1}, published.Table("3.6"))
	nodes := slices.Repeat([]topology.NodeModel{{Result: node, External: -1}}, 10)
	r, err := topology.Join(inter, nodes)
	if err != nil {
		t.Fatal(err)
	}
	// 120 cores, 10 nodes, 20 sockets and a switch; a tree.
	if r.Graph.Hosts() != 120 || r.Graph.Vertices() != 151 || r.Graph.NumArcs() != 300 || len(r.Warnings) > 0 {
		t.Errorf("%d cores, %d vertices, %d arcs, warnings %q, want 120, 151, 300 and none", r.Graph.Hosts(), r.Graph.Vertices(), r.Graph.NumArcs(), r.Warnings)
	}
	if sockets, ns := r.Hierarchy.GroupsAt(0), r.Hierarchy.GroupsAt(1); len(sockets) != 20 || len(ns) != 10 {
		t.Errorf("%d sockets, %d nodes, want 20 and 10", len(sockets), len(ns))
	}
	if r.Fit.Family != topology.FamilyTree {
		t.Errorf("family %s, want a tree", r.Fit.Family)
	}
}

func TestJoinRefuses(t *testing.T) {
	inter := resultWith(t, 2, 0, nil, [3]float64{0, 1, 12})
	node := resultWith(t, 3, 0, nil, [3]float64{0, 1, 1}, [3]float64{1, 2, 1})
	good := topology.NodeModel{Result: node, External: -1}
	for _, c := range []struct {
		name  string
		nodes []topology.NodeModel
	}{
		{"too few nodes", []topology.NodeModel{good}},
		{"no model", []topology.NodeModel{good, {}}},
		{"External outside", []topology.NodeModel{good, {Result: node, External: 3}}},
		{"Core outside", []topology.NodeModel{good, {Result: node, External: -1, Core: 3}}},
		{"Core external", []topology.NodeModel{good, {Result: node, External: 1, Core: 1}}},
	} {
		if r, err := topology.Join(inter, c.nodes); err == nil || !strings.HasPrefix(err.Error(), "topology: join: ") {
			t.Errorf("%s: %v, %v, want an error", c.name, r, err)
		}
	}
	if r, err := topology.Join(topotest.Reconstruct(t, &clique.Switches{Epsilon: 0}, &mat.Dense{}), nil); err != nil || r.Graph.Vertices() != 0 {
		t.Errorf("no nodes: %v, %v, want an empty machine", r, err)
	}
}

// levelled is a node of 8 cores on one switch with groups of the given sizes, fine to
// coarse, of levels with names and latencies.
func levelled(t *testing.T, levels []topology.Level, sizes ...int) topology.NodeModel {
	t.Helper()
	r := resultWith(t, 8, 1, nil, [3]float64{0, 8, 1}, [3]float64{1, 8, 1}, [3]float64{2, 8, 1}, [3]float64{3, 8, 1},
		[3]float64{4, 8, 1}, [3]float64{5, 8, 1}, [3]float64{6, 8, 1}, [3]float64{7, 8, 1})
	var groups []topology.Group
	for l, size := range sizes {
		for first := 0; first < 8; first += size {
			var hosts []int
			for h := range size {
				hosts = append(hosts, first+h)
			}
			groups = append(groups, topology.Group{Hosts: hosts, Level: l, Latency: levels[l].Latency})
		}
	}
	h, err := topology.NewHierarchy(8, levels, groups, 3e-6)
	if err != nil {
		t.Fatal(err)
	}
	r.Hierarchy = h
	return topology.NodeModel{Result: r, External: -1}
}

// Nodes with sockets, and nodes with dies in sockets, in either order: a group keeps
// the kind that it has in its node.
func TestJoinAlignsLevelsOfUnlikeNodes(t *testing.T) {
	inter := resultWith(t, 2, 0, nil, [3]float64{0, 1, 12})
	name := func(die, socket string) (plain, dies topology.NodeModel) {
		plain = levelled(t, []topology.Level{{Name: socket, Latency: 1e-6}}, 4)
		dies = levelled(t, []topology.Level{{Name: die, Latency: 0.4e-6}, {Name: socket, Latency: 1.2e-6}}, 2, 4)
		return plain, dies
	}
	named, namedDies := name("die", "socket")
	neutral, _ := name("", "level 1")
	_, neutralDies := name("level 1", "level 2")
	for _, c := range []struct {
		name  string
		nodes []topology.NodeModel
		want  []string
	}{
		{"names, sockets first", []topology.NodeModel{named, namedDies}, []string{"die", "socket", "node"}},
		{"names, dies first", []topology.NodeModel{namedDies, named}, []string{"die", "socket", "node"}},
		{"numbers, sockets first", []topology.NodeModel{neutral, neutralDies}, []string{"level 1", "level 2", "node"}},
		{"numbers, dies first", []topology.NodeModel{neutralDies, neutral}, []string{"level 1", "level 2", "node"}},
		{"a name for a number", []topology.NodeModel{neutralDies, named}, []string{"level 1", "socket", "node"}},
	} {
		r, err := topology.Join(inter, c.nodes)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for _, l := range r.Hierarchy.Levels() {
			got = append(got, l.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: levels %q, want %q", c.name, got, c.want)
			continue
		}
		for l, count := range []int{4, 4, 2} { // 4 dies of 2, 4 sockets of 4, 2 nodes of 8
			for _, g := range r.Hierarchy.GroupsAt(l) {
				if len(g.Hosts) != 2<<l {
					t.Errorf("%s: a group of %d cores at level %q", c.name, len(g.Hosts), got[l])
				}
			}
			if n := len(r.Hierarchy.GroupsAt(l)); n != count {
				t.Errorf("%s: %d groups at level %q, want %d", c.name, n, got[l], count)
			}
		}
	}
	// Kinds that share neither name nor latency stay apart, the finer first.
	slow := levelled(t, []topology.Level{{Name: "numa", Latency: 2e-6}}, 4)
	r, err := topology.Join(inter, []topology.NodeModel{slow, named})
	if err != nil {
		t.Fatal(err)
	}
	if levels := r.Hierarchy.Levels(); len(levels) != 3 || levels[0].Name != "socket" || levels[1].Name != "numa" {
		t.Errorf("levels %v, want socket, numa and node", levels)
	}
}

// Levels of different nodes are one only if nothing speaks against it: not if their kinds differ, however
// alike their latencies. The nodes' own level is of hosts.
func TestJoinKeepsKindsApart(t *testing.T) {
	model := func(kind topology.Kind) topology.NodeModel {
		return levelled(t, []topology.Level{{Kind: kind, Latency: 1e-6}}, 4)
	}
	inter := resultWith(t, 2, 0, nil, [3]float64{0, 1, 12})
	for _, c := range []struct {
		a, b topology.Kind
		want int // levels, with the nodes' own
	}{{topology.KindCache, topology.KindCache, 2}, {topology.KindCache, topology.KindSocket, 3}, {topology.KindCache, topology.KindUnknown, 2}, {topology.KindUnknown, topology.KindCache, 2}} {
		r, err := topology.Join(inter, []topology.NodeModel{model(c.a), model(c.b)})
		if err != nil {
			t.Fatal(err)
		}
		levels := r.Hierarchy.Levels()
		if len(levels) != c.want || levels[c.want-1].Kind != topology.KindHost || c.want == 2 && levels[0].Kind != topology.KindCache {
			t.Errorf("levels of kinds %q and %q became %+v, want %d, the last of hosts", c.a, c.b, levels, c.want)
		}
	}
}

// A ring of four nodes whose links take 2, with an overhead of 1 at the ends of every message: measured are 3 between neighbours
// and 5 across. The cores of a node hang on a switch by links of 0.1. By hand: of a half of the overhead at each end the way
// from the core to the switch takes 0.1, and 0.4 are left on the way out. So every two cores are as far apart as their nodes were
// measured, across the ring too, where messages pass through a node that they do not enter.
func TestJoinKeepsOverhead(t *testing.T) {
	inter := resultWith(t, 4, 0, nil, [3]float64{0, 1, 2}, [3]float64{1, 2, 2}, [3]float64{2, 3, 2}, [3]float64{3, 0, 2})
	inter.Fit = topology.Fit{Family: topology.FamilyMesh, Overhead: 1}
	for _, c := range []struct {
		inside, overhead float64 // of a node
	}{{0, 0}, {0.3, 0.3}} {
		node := resultWith(t, 2, 1, nil, [3]float64{0, 2, 0.1}, [3]float64{1, 2, 0.1})
		node.Fit.Overhead = c.inside
		m := topology.NodeModel{Result: node, External: -1}
		r, err := topology.Join(inter, []topology.NodeModel{m, m, m, m})
		if err != nil {
			t.Fatal(err)
		}
		if r.Fit.Overhead != c.overhead {
			t.Errorf("inside %g: overhead %g, want %g", c.inside, r.Fit.Overhead, c.overhead)
		}
		d := r.Graph.HostDistances()
		for pair, want := range map[[2]int]float64{{0, 1}: 0.2 + c.inside, {0, 2}: 3, {1, 3}: 3, {1, 4}: 5, {2, 7}: 5} {
			if got := d[pair[0]*8+pair[1]] + r.Fit.Overhead; math.Abs(got-want) > 1e-9 {
				t.Errorf("inside %g: cores %v are %g apart, want %g", c.inside, pair, got, want)
			}
		}
	}
	// Between nodes of a switch the links of the nodes hold the overhead, which is 0.3 between cores that are wired to each other: 4 and 0.4.
	star := resultWith(t, 3, 1, nil, [3]float64{0, 3, 2}, [3]float64{1, 3, 2}, [3]float64{2, 3, 2})
	pair := resultWith(t, 2, 0, nil, [3]float64{0, 1, 0.1})
	pair.Fit = topology.Fit{Family: topology.FamilyMesh, Overhead: 0.3}
	m := topology.NodeModel{Result: pair, External: -1}
	r, err := topology.Join(star, []topology.NodeModel{m, m, m})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Graph.HostDistances()
	for pair, want := range map[[2]int]float64{{0, 1}: 0.4, {0, 2}: 4, {2, 4}: 4} {
		if got := d[pair[0]*6+pair[1]] + r.Fit.Overhead; math.Abs(got-want) > 1e-9 {
			t.Errorf("on a switch: cores %v are %g apart, want %g", pair, got, want)
		}
	}
}
