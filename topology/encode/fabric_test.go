package encode

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

// fabricText writes a fabric on one line: "root(rack-1[a b] rack-2[c d] e)".
func fabricText(f *Fabric) string {
	var text func(s *FabricSwitch) string
	text = func(s *FabricSwitch) string {
		if len(s.Switches) == 0 {
			return s.Name + fmt.Sprint(s.Hosts)
		}
		var below []string
		for _, c := range s.Switches {
			below = append(below, text(c))
		}
		return s.Name + "(" + strings.Join(append(below, s.Hosts...), " ") + ")"
	}
	var roots []string
	for _, r := range f.Roots {
		roots = append(roots, text(r))
	}
	return strings.Join(roots, " ")
}

// groupsOf is a hierarchy of given groups, from fine to coarse, and the names of its levels.
func groupsOf(t testing.TB, hosts int, names string, levels ...[][]int) *topology.Hierarchy {
	t.Helper()
	var list []topology.Level
	var groups []topology.Group
	named := strings.Split(names, ",")
	for l, level := range levels {
		list = append(list, topology.Level{Name: named[l], Latency: nan, Confidence: 1})
		for _, g := range level {
			groups = append(groups, topology.Group{Hosts: g, Level: l, Latency: nan, Confidence: 1})
		}
	}
	h, err := topology.NewHierarchy(hosts, list, groups, nan)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// starGraph has all hosts on one switch.
func starGraph(t testing.TB, hosts int) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for v := range hosts {
		arcs = topology.AppendLink(arcs, v, hosts, 1e-6, nan)
	}
	g, err := topology.NewGraph(hosts, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Switches of hierarchies, by hand.
func TestNewFabric(t *testing.T) {
	names := func(text string) []string { return strings.Fields(text) }
	uncertain := groupsOf(t, 4, "rack", [][]int{{0, 1}, {2, 3}})
	uncertain.Groups()[2].Confidence = 0.5
	for _, c := range []struct {
		name  string
		h     *topology.Hierarchy
		hosts []string
		want  string
	}{
		{"a flat machine", groupsOf(t, 3, ""), names("n10 n9 n1"), "root[n1 n9 n10]"},
		{"two racks", groupsOf(t, 4, "rack", [][]int{{0, 2}, {1, 3}}), names("a b c d"), "root(rack-1[a c] rack-2[b d])"},
		{
			"racks in cells, named and not",
			groupsOf(t, 8, "level 1,cell 9", [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}),
			names("a b c d e f g h"), "root(cell-9-1(tier0-1[a b] tier0-2[c d]) cell-9-2(tier0-3[e f] tier0-4[g h]))",
		},
		{"uneven depth", groupsOf(t, 5, "rack,cell", [][]int{{0, 1}}, [][]int{{0, 1, 2}}), names("a b c d e"), "root(cell-1(rack-1[a b] c) d e)"},
		{"ranks of hosts", groupsOf(t, 8, "host,rack", [][]int{{0, 1}, {2, 3}}, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}), names("a a b b c c d d"), "root(rack-1[a b] rack-2[c d])"},
		{"ranks of one host", groupsOf(t, 4, "socket", [][]int{{0, 1}, {2, 3}}), names("a a a a"), "root[a]"},
		{"an uncertain group", uncertain, names("a b c d"), "root(rack-1[a b] c d)"},
	} {
		f, warnings, err := NewFabric(starGraph(t, c.h.Hosts()), c.h, c.hosts)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := fabricText(f); got != c.want || len(warnings) > 0 {
			t.Errorf("%s: %s, %v; want %s", c.name, got, warnings, c.want)
		}
	}
}

// Of wiring without latencies, such as that of an InfiniBand dump, the hosts below each switch are a group: hosts 0 to 3 below switches 6 and 7 below
// 10, hosts 4 and 5 below 8, all below 9. A host on two leaves leaves none, and a warning.
func TestNewFabricOfWiring(t *testing.T) {
	wiring := [][2]int{{0, 6}, {1, 6}, {2, 7}, {3, 7}, {4, 8}, {5, 8}, {6, 10}, {7, 10}, {8, 9}, {10, 9}}
	for _, c := range []struct {
		more          [][2]int
		want, warning string
	}{
		{nil, "root(tier1-1(tier0-1[a b] tier0-2[c d]) tier0-3[e f])", ""},
		{[][2]int{{0, 7}}, "root[a b c d e f]", "6 hosts are on 3 switches that make no groups, as some have several links: they are put on one switch"},
	} {
		var arcs []topology.Arc
		for _, link := range append(c.more, wiring...) {
			arcs = topology.AppendLink(arcs, link[0], link[1], nan, 1e9)
		}
		g, err := topology.NewGraph(6, 5, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		f, warnings, err := NewFabric(g, groupsOf(t, 6, ""), strings.Fields("a b c d e f"))
		if err != nil {
			t.Fatal(err)
		}
		if got := fabricText(f); got != c.want || strings.Join(warnings, "") != c.warning {
			t.Errorf("%s, %q; want %s, %q", got, warnings, c.want, c.warning)
		}
	}
}

// Two fabrics: hosts 0 to 3 below switches 9 and 10 below 11, hosts 4 to 7 on 12; host 8 on
// nothing. Nobody says what groups there are, so the graph does.
func TestNewFabricOfSeparateNetworks(t *testing.T) {
	var arcs []topology.Arc
	for _, link := range [][2]int{{0, 9}, {1, 9}, {2, 10}, {3, 10}, {9, 11}, {10, 11}, {4, 12}, {5, 12}, {6, 12}, {7, 12}} {
		arcs = topology.AppendLink(arcs, link[0], link[1], 1e-6, nan)
	}
	g, err := topology.NewGraph(9, 4, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h := groupsOf(t, 9, "")
	for _, c := range []struct{ name, hosts, want, warning string }{
		{
			"each a root", "a b c d e f g h i", "root-1(tier0-1[a b] tier0-2[c d]) root-2[e f g h] root-3[i]",
			"3 parts of the network are not connected: each has a root switch, and no job gets hosts of two of them; if they are connected, measure between them; alone are i",
		},
		{
			"a host with ranks in two joins them", "a b c d a f g h i", "root-1[a b c d f g h] root-2[i]", "2 parts of the network",
		},
	} {
		f, warnings, err := NewFabric(g, h, strings.Fields(c.hosts))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := fabricText(f); !strings.HasPrefix(got, c.want) || !strings.HasPrefix(strings.Join(warnings, ""), c.warning) {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, warnings, c.want, c.warning)
		}
	}
	// With groups, those of the parts are taken; one that spans two parts is cut.
	f, _, err := NewFabric(g, groupsOf(t, 9, "rack", [][]int{{0, 1}, {2, 3, 4, 5}}), strings.Fields("a b c d e f g h i"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fabricText(f), "root-1(rack-1[a b] rack-2[c d]) root-2(rack-3[e f] g h) root-3[i]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNewFabricRefuses(t *testing.T) {
	for _, c := range []struct {
		hosts []string
		want  string
	}{
		{[]string{"a"}, "a graph of 2 hosts, a hierarchy of 2, 1 name"},
		{[]string{"a", ""}, "rank 1: the host has no name"},
		{[]string{"a", "b c"}, `rank 1: host "b c": want a name of letters`},
		{[]string{"a", "n[1-3]"}, "want a name of letters"},
		{[]string{"a", strings.Repeat("n", 65)}, "65 bytes: want at most 64"},
	} {
		if _, _, err := NewFabric(starGraph(t, 2), groupsOf(t, 2, ""), c.hosts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want an error with %q", c.hosts, err, c.want)
		}
	}
}

// The hierarchy that a fabric was made of comes back from it, for any hosts.
func TestFabricHierarchy(t *testing.T) {
	h := groupsOf(t, 7, "rack,cell", [][]int{{0, 1}, {2, 3}, {4, 5}}, [][]int{{0, 1, 2, 3}})
	f, _, err := NewFabric(starGraph(t, 7), h, strings.Fields("a b c d e f g"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ hosts, want string }{
		{"a b c d e f g", "1:0-3 0:0-1 0:2-3 0:4-5"},
		{"g f e d c b a", "1:3-6 0:1-2 0:3-4 0:5-6"},
		{"a c e x", "1:0-2 0:0-1"},
		{"a b c", "0:0-1"},
	} {
		got, err := f.Hierarchy(strings.Fields(c.hosts))
		if err != nil {
			t.Fatal(err)
		}
		if text := listGroups(got); text != c.want {
			t.Errorf("of %s: %s, want %s", c.hosts, text, c.want)
		}
		if !math.IsNaN(got.Groups()[0].Latency) {
			t.Errorf("of %s: latency %g", c.hosts, got.Groups()[0].Latency)
		}
	}
	if _, err := f.Hierarchy([]string{"a", "a"}); err == nil {
		t.Error("a host given twice: no error")
	}
	if hosts := f.Hosts(); !slices.Equal(hosts, strings.Fields("a b c d e f g")) {
		t.Errorf("hosts %v", hosts)
	}
}
