package draw

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
)

// on places ranks in blocks: so many cores of each host, whose name is made of its number.
func on(ranks, cores int, name func(host int) string) []Place {
	places := make([]Place, ranks)
	for r := range places {
		places[r] = Place{Host: name(r / cores), Core: r % cores}
	}
	return places
}

// uncertainAt is a hierarchy in which the group of the given host at a level is uncertain.
func weakened(t *testing.T, h *topology.Hierarchy, level, host int) *topology.Hierarchy {
	groups := h.Groups()[1:]
	own := append([]topology.Group(nil), groups...)
	for i := range own {
		if own[i].Level == level && own[i].Hosts[0] == host {
			own[i].Confidence = 0.72
		}
	}
	uncertain, err := topology.NewHierarchy(h.Hosts(), h.Levels(), own, h.Groups()[0].Latency)
	if err != nil {
		t.Fatal(err)
	}
	return uncertain
}

// slower is a graph whose link between two vertices is so many times slower, in latency and rate.
func slower(t *testing.T, g *topology.Graph, u, v int, times float64) *topology.Graph {
	arcs := append([]topology.Arc(nil), g.Arcs()...)
	for i, a := range arcs {
		if a.From == u && a.To == v || a.From == v && a.To == u {
			arcs[i].Latency *= times
			arcs[i].Bandwidth /= times
		}
	}
	out, err := g.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The golden files were read: they say what the specifications say.
func TestText(t *testing.T) {
	number := func(format string) func(int) string { return func(h int) string { return fmt.Sprintf(format, h) } }
	tree, _ := topotest.Generate(t, "tree:2x4x8 latency=20us,8us,2us rate=10Gbps")
	cores, _ := topotest.Generate(t, "core:4 socket:2 host:3 rack:2")
	uneven, _ := topotest.Generate(t, "tree:[2,5,5]x4 latency=9us,3us,1us")
	large, _ := topotest.Generate(t, "tree:4x8x32 latency=10us,5us,2us rate=10Gbps,25Gbps,25Gbps")
	ring, _ := topotest.Generate(t, "ring:6 hosts=4")
	torus, _ := topotest.Generate(t, "torus:4x4")
	fat, _ := topotest.Generate(t, "fattree:4")
	pair, err := topology.NewHierarchy(2, nil, nil, 123e-9)
	if err != nil {
		t.Fatal(err)
	}
	two, err := topology.NewGraph(2, 0, nil, topology.AppendLink(nil, 0, 1, 123e-9, 12e9))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		graph     *topology.Graph
		hierarchy *topology.Hierarchy
		settings  TextSettings
	}{
		"two-cores":    {two, pair, TextSettings{Places: on(2, 2, number("box%d"))}},
		"three-levels": {tree.Graph, tree.Hierarchy, TextSettings{Places: on(64, 1, func(h int) string { return fmt.Sprintf("r%dn%02d", h/8, h%8) })}},
		"weak-slow":    {slower(t, slower(t, tree.Graph, 9, 68, 2.5), 69, 65, 3), weakened(t, tree.Hierarchy, 0, 48), TextSettings{}},
		"cores":        {cores.Graph, cores.Hierarchy, TextSettings{Places: on(48, 8, number("rack%d-tux"))}},
		"uneven":       {uneven.Graph, uneven.Hierarchy, TextSettings{Noun: "endpoint"}},
		"large":        {slower(t, large.Graph, 700, large.Graph.Out(700)[0].To, 4), large.Hierarchy, TextSettings{Places: on(1024, 1, number("n%04d"))}},
		"ring":         {ring.Graph, ring.Hierarchy, TextSettings{}},
		"torus":        {torus.Graph, torus.Hierarchy, TextSettings{}},
		"fat-tree":     {fat.Graph, fat.Hierarchy, TextSettings{}},
	} {
		var b strings.Builder
		if err := Text(&b, c.graph, c.hierarchy, &c.settings); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 || strings.HasSuffix(line, " \n") {
				t.Errorf("%s: a line of %d columns: %q", name, n, line)
			}
		}
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != b.String() {
			t.Errorf("%s (%v):\n%swant:\n%s", name, err, b.String(), want)
		}
	}
}

// TestTextTellsLongNamesApart: the domain that all share goes first, and then the middle of a name, as hosts differ at its end.
func TestTextTellsLongNamesApart(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:2x4 latency=8us,2us rate=10Gbps")
	for name, want := range map[string]string{
		"n%02d":                  "4 x host n[00-03] ",
		"n%02d.cluster.site.org": "4 x host n[00-03] ",
		"a-name-longer-than-there-is-any-room-for-%02d":                  "...or-[04-07] ",
		"a-name-longer-than-there-is-any-room-for-%02d.cluster.site.org": "...or-[04-07] ",
	} {
		var out strings.Builder
		places := on(8, 1, func(host int) string { return fmt.Sprintf(name, host) })
		if err := Text(&out, c.Graph, c.Hierarchy, &TextSettings{Noun: "rank", Places: places}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, want %q in\n%s", name, err, want, out.String())
		}
	}
}

// Every rank stands in the unfolded tree, and its figures are the graph's.
func TestTextUnfolded(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:4x4x8 latency=10us,5us,2us")
	var b strings.Builder
	if err := Text(&b, c.Graph, c.Hierarchy, &TextSettings{Unfold: true}); err != nil {
		t.Fatal(err)
	}
	// A header, the root, 4 pods, 16 racks, and a line of hosts in each.
	if got := strings.Count(b.String(), "\n"); got != 38 {
		t.Errorf("%d lines, want 38:\n%s", got, b.String())
	}
	// Between racks of a pod a message passes two links of 2 us and two of 5.
	if got := strings.Count(b.String(), " 14 us "); got != 4 {
		t.Errorf("%d pods of 14 us inside, want 4:\n%s", got, b.String())
	}
}

// Of a group of many unlike parts all are there, and the links of every vertex.
func TestTextUnfoldedLeavesNothingOut(t *testing.T) {
	for spec, last := range map[string]string{"tree:20x3": "switch s20 ", "mesh:5x5": "24 -- 19 23\n"} {
		c, _ := topotest.Generate(t, spec)
		var b strings.Builder
		if err := Text(&b, c.Graph, c.Hierarchy, &TextSettings{Unfold: true}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, last) || strings.Contains(got, " more") || strings.Contains(got, "and so on") {
			t.Errorf("%s unfolded does not have %q, or leaves something out:\n%s", spec, last, got)
		}
	}
}

// Links that differ by 30 % are not written as one, though neither is slow. Alike: a header, all, pods, racks and
// hosts. Else the pod with that rack is apart: itself, the rack, its hosts, the 7 other racks, their hosts.
func TestTextFoldsWhatIsAlike(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:4x8x4 latency=10us,5us,2us")
	rack := c.Graph.Out(0)[0].To
	for times, want := range map[float64]int{1: 5, 1.1: 5, 1.3: 10} {
		var b strings.Builder
		pod := c.Graph.Out(rack)
		if err := Text(&b, slower(t, c.Graph, rack, pod[len(pod)-1].To, times), c.Hierarchy, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "\n"); got != want {
			t.Errorf("a link of %g times: %d lines, want %d:\n%s", times, got, want, b.String())
		}
	}
}

// TestGroupsOfSeveralLevelsSideBySide: a pair of hosts beside a rack of three. Nobody is left out of the tree, of the order of
// the rows, or of the page, although the rack comes first among the groups.
func TestGroupsOfSeveralLevelsSideBySide(t *testing.T) {
	g, _ := topotest.Generate(t, "star:5")
	h, err := topology.NewHierarchy(5, []topology.Level{{Latency: 1e-6, Confidence: 1}, {Latency: 2e-6, Confidence: 1}}, []topology.Group{
		{Hosts: []int{2, 3, 4}, Level: 1, Latency: 2e-6, Confidence: 1}, {Hosts: []int{0, 1}, Level: 0, Latency: 1e-6, Confidence: 1},
	}, 5e-6)
	if err != nil {
		t.Fatal(err)
	}
	var tree strings.Builder
	if err := Text(&tree, g.Graph, h, nil); err != nil {
		t.Fatal(err)
	}
	for _, hosts := range []string{"0-1", "2-4"} {
		if !strings.Contains(tree.String(), hosts) {
			t.Errorf("hosts %s are not in the tree:\n%s", hosts, tree.String())
		}
	}
	if got, _ := groupOrder(h); fmt.Sprint(got) != "[0 1 2 3 4]" {
		t.Errorf("order of the rows is %v", got)
	}
}

// TestTextMarksSlowLinksOfUnknownGroups: what lies between the parts of a ring is not known; one of its hosts with a slow link is told
// nevertheless.
func TestTextMarksSlowLinksOfUnknownGroups(t *testing.T) {
	c, _ := topotest.Generate(t, "ring:6 hosts=5")
	if !math.IsNaN(c.Hierarchy.Groups()[0].Latency) {
		t.Fatal("the latency between the switches is known: the test shows nothing")
	}
	h, err := topology.NewHierarchy(30, nil, nil, math.NaN())
	if err != nil {
		t.Fatal(err)
	}
	arcs := slices.Clone(c.Graph.Arcs())
	for i := range arcs {
		arcs[i].Bandwidth = math.NaN() // or the rate would tell
	}
	g, err := c.Graph.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	var tree strings.Builder
	if err := Text(&tree, slower(t, g, 7, g.Out(7)[0].To, 3), h, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(tree.String(), "!3.0x") {
		t.Errorf("no slow link is marked:\n%s", tree.String())
	}
}

// A line of hosts, or of switches, is a tree that nested groups do not show: its links are listed, and in order. Those of a
// star, of a tree, and of racks of one host below a switch of their own stand in the tree already.
func TestTextListsLinksThatTheTreeDoesNotShow(t *testing.T) {
	for spec, want := range map[string]string{
		"line:5":         "4 links between ranks, 1 to 2 at each, 5 us, 1.25 GB/s\n0 -- 1 -- 2 -- 3 -- 4\n",
		"line:4 hosts=3": "3 links between switches, 1 to 2 at each, 5 us, 1.25 GB/s\ns0 -- s1 -- s2 -- s3\n",
		"star:5":         "",
		"tree:2x3":       "",
		"tree:[1,1,4]":   "",
		"tree:2x3x4":     "",
	} {
		c, _ := topotest.Generate(t, spec)
		var b strings.Builder
		if err := Text(&b, c.Graph, c.Hierarchy, nil); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); want == "" && strings.Contains(got, " links between ") || !strings.HasSuffix(got, want) {
			t.Errorf("%s:\n%swant at the end %q", spec, got, want)
		}
	}
}

// A rack that is alone in its pod has an uplink of two links, 10 us where others have 5. None is slow.
func TestTextMarksNoUplinkOfTwoLinksAsSlow(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:4x3x2")
	var groups []topology.Group
	arcs := slices.Clone(c.Graph.Arcs())
	for _, g := range c.Hierarchy.Groups()[1:] {
		if !(g.Level == 1 && g.Hosts[0] == 0) { // the first pod is gone, and its racks hang on the root
			groups = append(groups, g)
		}
	}
	for i, a := range arcs {
		if up, _, ok := c.Graph.LinkAbove([]int{0, 1}); ok && (a.From == up || a.To == up) && c.Graph.IsSwitch(a.From) && c.Graph.IsSwitch(a.To) {
			arcs[i].Latency *= 2
		}
	}
	g, err := c.Graph.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(24, c.Hierarchy.Levels(), groups, c.Hierarchy.Groups()[0].Latency)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Text(&b, g, h, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "!") {
		t.Errorf("a link is marked as slow:\n%s", b.String())
	}
}
