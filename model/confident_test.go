package model

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/topology"
)

// uncertainTree is a machine of 8 hosts as linkage.Robust draws it: two confident racks of four
// with switches 9 and 11, in each a pair with a switch of its own, of which that
// of hosts 0 and 1, switch 10, is uncertain, and that of hosts 4 and 5 confident. Switch
// 8 is the root. Links of hosts take 1 us, those between switches 2 us.
func uncertainTree(t testing.TB, uncertain float64) *topology.Result {
	t.Helper()
	var arcs []topology.Arc
	link := func(u, v int, latency float64) {
		arcs = topology.AppendLink(arcs, u, v, latency, nan)
	}
	for h, s := range []int{10, 10, 9, 9, 12, 12, 11, 11} {
		link(h, s, 1e-6)
	}
	link(9, 8, 2e-6)
	link(11, 8, 2e-6)
	link(10, 9, 2e-6)
	link(12, 11, 2e-6)
	g, err := topology.NewGraph(8, 5, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(8,
		[]topology.Level{{Name: "pair", Latency: 2e-6, Confidence: nan}, {Name: "rack", Latency: 4e-6, Confidence: 1}},
		[]topology.Group{
			{Hosts: []int{0, 1}, Latency: 2e-6, Confidence: uncertain},
			{Hosts: []int{4, 5}, Latency: 2e-6, Confidence: 0.95},
			{Hosts: []int{0, 1, 2, 3}, Level: 1, Latency: 4e-6, Confidence: 1},
			{Hosts: []int{4, 5, 6, 7}, Level: 1, Latency: 4e-6, Confidence: 1},
		}, 8e-6)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}
}

// pathLatency is the sum of the latencies of the arcs from one host to another.
func pathLatency(t testing.TB, n *Network, a, b int) float64 {
	t.Helper()
	path, err := n.routes.AppendRoute(nil, a, b)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, arc := range path {
		sum += n.graph.Arcs()[arc].Latency
	}
	return sum
}

func TestUncertainGroupsDecideNothing(t *testing.T) {
	n, err := New(uncertainTree(t, 0.89), &Settings{LevelBandwidth: []float64{1e9, 1e9, 1e9}, Locations: locations(8)})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(n.Hierarchy().Groups()); got != 4 {
		t.Errorf("%d groups decide, want the root, two racks and the confident pair", got)
	}
	if got := len(n.Reconstruction().Hierarchy.Groups()); got != 5 {
		t.Errorf("%d groups are reported, want 5", got)
	}
	if got := n.LevelOf(0, 1); got != 1 {
		t.Errorf("ranks of the uncertain pair are of level %d, want that of the rack, 1", got)
	}
	if got, want := n.Time(0, 1, 0), n.Time(0, 2, 0); got != want {
		t.Errorf("Time inside the uncertain pair = %g, want %g as in the rack", got, want)
	}
	if got := n.Graph().Vertices(); got != 12 {
		t.Errorf("%d vertices, want 12: the uncertain pair's switch is gone", got)
	}
	for v := range n.Graph().Vertices() {
		if n.Graph().Name(v) == "s2" {
			t.Error("switch s2 of the uncertain pair is still there")
		}
	}
	// By hand: all distances but the one inside the uncertain pair stay; that becomes 2 x (1 + 2) us.
	whole, err := FromGraph(uncertainTree(t, 1).Graph, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	for a := range 8 {
		for b := range 8 {
			want := pathLatency(t, whole, a, b)
			if a+b == 1 {
				want = 6e-6
			}
			if got := pathLatency(t, n, a, b); !near(got, want, 1e-12) {
				t.Errorf("latency of the path %d-%d is %g, want %g", a, b, got, want)
			}
		}
	}
}

func TestConfidentGroupsKeepTheirSwitches(t *testing.T) {
	r := uncertainTree(t, topology.ConfidentFrom)
	n, err := New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n.Graph() != r.Graph || n.Hierarchy() != r.Hierarchy {
		t.Error("a network of confident groups has another graph or hierarchy than it was given")
	}
}

// Two uncertain groups that are all there is: the link between their switches
// (linkage.Robust draws no switch in its middle) must not part the hosts either.
func TestUncertainHalvesAreNoHalves(t *testing.T) {
	for _, c := range []struct {
		confidence [2]float64
		want       int // vertices
	}{{[2]float64{0.6, 0.7}, 5}, {[2]float64{0.6, 1}, 6}, {[2]float64{1, 0.6}, 6}, {[2]float64{1, 1}, 6}} {
		var arcs []topology.Arc
		for h := range 4 {
			arcs = topology.AppendLink(arcs, h, 4+h/2, 1e-6, nan)
		}
		g, err := topology.NewGraph(4, 2, nil, topology.AppendLink(arcs, 4, 5, 4e-6, nan))
		if err != nil {
			t.Fatal(err)
		}
		h, err := topology.NewHierarchy(4, []topology.Level{{Latency: 2e-6}}, []topology.Group{
			{Hosts: []int{0, 1}, Latency: 2e-6, Confidence: c.confidence[0]},
			{Hosts: []int{2, 3}, Latency: 2e-6, Confidence: c.confidence[1]},
		}, 6e-6)
		if err != nil {
			t.Fatal(err)
		}
		n, err := New(&topology.Result{Graph: g, Hierarchy: h}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Graph().Vertices(); got != c.want {
			t.Errorf("confidence %v: %d vertices, want %d", c.confidence, got, c.want)
		}
		if got := pathLatency(t, n, 1, 2); !near(got, 6e-6, 1e-12) {
			t.Errorf("confidence %v: latency across is %g, want 6e-6", c.confidence, got)
		}
	}
}

// Two pairs of hosts on two switches, both uncertain: all four are on one switch, and each pair of hosts is as far apart as two of
// different switches are, 4 us, of which each link is half.
func TestHalvesThatAreBothUncertainShareTheirLink(t *testing.T) {
	var arcs []topology.Arc
	for h, s := range []int{4, 4, 5, 5} {
		arcs = topology.AppendLink(arcs, h, s, 1e-6, nan)
	}
	g, err := topology.NewGraph(4, 2, nil, topology.AppendLink(arcs, 4, 5, 2e-6, nan))
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(4, []topology.Level{{Latency: 2e-6}}, []topology.Group{
		{Hosts: []int{0, 1}, Latency: 2e-6, Confidence: 0.8}, {Hosts: []int{2, 3}, Latency: 2e-6, Confidence: 0.8},
	}, 4e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{Graph: g, Hierarchy: h}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]int{{0, 1}, {2, 3}, {0, 2}, {3, 1}} {
		if got := pathLatency(t, n, p[0], p[1]); !near(got, 4e-6, 1e-12) {
			t.Errorf("path %v takes %g s, want 4e-6", p, got)
		}
	}
}

// The uncertain group's switch is the first one and so the others seem to hang below
// it; they do not become longer for it. Switch 6 is that of hosts 0 and 1, switch
// 7 joins all, switch 8 is that of hosts 2 and 3; hosts 4 and 5 hang on the root. Links of hosts take 1 us, those of switches 2 us.
func TestUncertainGroupWithTheFirstSwitch(t *testing.T) {
	for _, c := range []struct {
		first, other float64 // confidences
		vertices     int
		want         [4]float64 // us: of the paths 0-1, 2-3, 0-2, 4-5
	}{
		// By hand: pairs of groups that go are as far apart as those of the root are.
		{0.95, 0.95, 9, [4]float64{2, 2, 6, 2}},
		{0.60, 0.95, 8, [4]float64{6, 2, 6, 2}},
		{0.95, 0.60, 8, [4]float64{2, 6, 6, 2}},
		{0.60, 0.60, 7, [4]float64{6, 6, 6, 2}},
	} {
		var arcs []topology.Arc
		link := func(u, v int, latency float64) {
			arcs = topology.AppendLink(arcs, u, v, latency, nan)
		}
		for h, s := range []int{6, 6, 8, 8, 7, 7} {
			link(h, s, 1e-6)
		}
		link(6, 7, 2e-6)
		link(8, 7, 2e-6)
		g, err := topology.NewGraph(6, 3, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		h, err := topology.NewHierarchy(6, []topology.Level{{Latency: 2e-6}}, []topology.Group{
			{Hosts: []int{0, 1}, Latency: 2e-6, Confidence: c.first},
			{Hosts: []int{2, 3}, Latency: 2e-6, Confidence: c.other},
		}, 6e-6)
		if err != nil {
			t.Fatal(err)
		}
		n, err := New(&topology.Result{Graph: g, Hierarchy: h}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Graph().Vertices(); got != c.vertices {
			t.Errorf("confidence %g and %g: %d vertices, want %d", c.first, c.other, got, c.vertices)
		}
		for k, p := range [][2]int{{0, 1}, {2, 3}, {0, 2}, {4, 5}} {
			if got := 1e6 * pathLatency(t, n, p[0], p[1]); !near(got, c.want[k], 1e-9) {
				t.Errorf("confidence %g and %g: path %v takes %g us, want %g", c.first, c.other, p, got, c.want[k])
			}
		}
	}
}

// Levels of uncertain groups alone go; those that never had a group stay, as their
// parameters do.
func TestLevelsThatStay(t *testing.T) {
	h, err := topology.NewHierarchy(8, []topology.Level{{Name: "none"}, {Name: "uncertain"}, {Name: "both"}, {Name: "confident"}},
		[]topology.Group{
			{Hosts: []int{0, 1}, Level: 1, Confidence: 0.6},
			{Hosts: []int{0, 1, 2}, Level: 2, Confidence: 0.6},
			{Hosts: []int{4, 5, 6}, Level: 2, Confidence: 0.9},
			{Hosts: []int{4, 5, 6, 7}, Level: 3, Confidence: 1},
		}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range h.Confident(topology.ConfidentFrom).Levels() {
		names = append(names, l.Name)
	}
	if got, want := fmt.Sprint(names), "[none both confident]"; got != want {
		t.Errorf("levels of Confident are %s, want %s", got, want)
	}
}

// Ranks 0 and 1 are an uncertain pair and all that the job got of their confident rack: one
// group, the rack.
func TestViewHasGroupsOnce(t *testing.T) {
	n, err := New(uncertainTree(t, 0.6), &Settings{LevelBandwidth: []float64{3e9, 2e9, 1e9}, Locations: locations(8)})
	if err != nil {
		t.Fatal(err)
	}
	var at []Location
	for _, r := range []int{0, 1, 4, 6} {
		at = append(at, n.Location(r))
	}
	view, err := n.View(at)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, g := range view.Reconstruction().Hierarchy.Groups() {
		got += fmt.Sprintf("%v %g ", g.Hosts, g.Confidence)
	}
	if want := "[0 1 2 3] 1 [0 1] 1 [2 3] 1 "; got != want {
		t.Errorf("the view reports groups %s, want %s", got, want)
	}
}

// A view follows the same groups as the whole, in memory and from its file:
// groups that become the same must not hide a confident one behind an uncertain one.
func TestViewFollowsConfidentGroups(t *testing.T) {
	n, err := New(uncertainTree(t, 0.6), &Settings{
		Levels: []LevelParams{
			{PLogP: Hockney{1e-6, 3e9}.PLogP(), Spread: nan}, {PLogP: Hockney{2e-6, 2e9}.PLogP(), Spread: nan}, {PLogP: Hockney{3e-6, 1e9}.PLogP(), Spread: nan},
		},
		Locations: locations(8),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		old := r.Perm(8)[:1+r.IntN(8)]
		var at []Location
		for _, o := range old {
			at = append(at, n.Location(o))
		}
		view, err := n.View(at)
		if err != nil {
			t.Fatal(err)
		}
		checkView(t, n, view, old)
		back := reread(t, view)
		checkView(t, n, back, old)
		if got, want := len(back.Hierarchy().Groups()), len(view.Hierarchy().Groups()); got != want {
			t.Errorf("ranks %v: %d confident groups read back, want %d", old, got, want)
		}
	}
}

// TestFileKeepsUncertainGroups: what is reported of uncertain groups is in the file, and
// what follows confident ones is the same after reading.
func TestFileKeepsUncertainGroups(t *testing.T) {
	n, err := New(uncertainTree(t, 0.7), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := reread(t, n)
	if a, b := len(got.Reconstruction().Hierarchy.Groups()), len(got.Hierarchy().Groups()); a != 5 || b != 4 {
		t.Errorf("read %d groups, %d of them confident, want 5 and 4", a, b)
	}
	if a, b := got.Graph().Vertices(), n.Graph().Vertices(); a != b || len(got.Levels()) != len(n.Levels()) {
		t.Errorf("read %d vertices and %d levels, wrote %d and %d", a, len(got.Levels()), b, len(n.Levels()))
	}
	if a, b := got.Time(0, 2, 0), n.Time(0, 2, 0); a != b {
		t.Errorf("Time(0, 2, 0) = %g s, was %g s", a, b)
	}
}
