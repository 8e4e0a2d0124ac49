package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// nameless is the network of a cluster whose levels have neither names nor kinds, as one that was
// found; ranks run where the generator says.
func nameless(t *testing.T, spec string, resources []Resource) *Network {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Hierarchy.WithKinds(make([]topology.Kind, len(c.Hierarchy.Levels())))
	if err != nil {
		t.Fatal(err)
	}
	s := &Settings{Resources: resources}
	for rank, host := range c.Node {
		s.Locations = append(s.Locations, Location{Host: fmt.Sprint("host", host), Core: rank})
	}
	n, err := New(&topology.Result{Graph: c.Graph, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What levels are follows from where ranks run and from what they share, not from their names: 2 racks of 2
// hosts of 2 sockets of 2 caches of 2 cores. The generator's words are the truth.
func TestKindsFollowFromPlacesAndResources(t *testing.T) {
	const spec = "core:2 l3:2 socket:2 host:2 rack:2"
	pairs := func(size int) (groups [][]int) {
		for first := 0; first < 32; first += size {
			var g []int
			for i := range size {
				g = append(g, first+i)
			}
			groups = append(groups, g)
		}
		return groups
	}
	cache := Resource{Kind: topology.KindCache, Groups: pairs(2)}
	for _, c := range []struct {
		name      string
		resources []Resource
		want      string
	}{
		{"places alone", nil, "  host switch"},
		{"a cache", []Resource{cache}, "cache  host switch"},
		{"a cache and memory", []Resource{cache, {Kind: topology.KindNUMA, Groups: pairs(4)}}, "cache numa host switch"},
		{"the coarsest of those of the same ranks", []Resource{{Kind: topology.KindSocket, Groups: pairs(4)}, {Kind: topology.KindNUMA, Groups: pairs(4)}}, " socket host switch"},
		{"a cache of some cores only", []Resource{{Kind: topology.KindCache, Groups: pairs(2)[1:]}}, "  host switch"},
		{"a cache across the groups", []Resource{{Kind: topology.KindCache, Groups: [][]int{{1, 2}}}}, "  host switch"},
	} {
		n := nameless(t, spec, c.resources)
		kinds := func(n *Network) string {
			var all []string
			for _, l := range n.Hierarchy().Levels() {
				all = append(all, l.Kind.String())
			}
			return strings.Join(all, " ")
		}
		if got := kinds(n); got != c.want {
			t.Errorf("%s: levels of kinds %q, want %q", c.name, got, c.want)
		}
		back := reread(t, n)
		if got := kinds(back); got != c.want {
			t.Errorf("%s, from a file: levels of kinds %q, want %q", c.name, got, c.want)
		}
	}
}

// A group of parts of two hosts is of no kind, and neither is its level.
func TestKindsOfMixedGroups(t *testing.T) {
	n := nameless(t, "core:2 host:2", nil)
	for _, hosts := range []string{"aabb", "abab", "aaab"} {
		var at []Location
		for _, h := range hosts {
			at = append(at, Location{Host: string(h), Core: -1})
		}
		other, err := New(&topology.Result{Graph: n.graph, Hierarchy: n.hierarchy}, &Settings{Locations: at})
		if err != nil {
			t.Fatal(err)
		}
		// What is known stays.
		if got := other.Hierarchy().Levels()[0].Kind; got != topology.KindHost {
			t.Errorf("hosts %s: the known kind became %q", hosts, got)
		}
		unknown, err := n.hierarchy.WithKinds([]topology.Kind{topology.KindUnknown})
		if err != nil {
			t.Fatal(err)
		}
		other, err = New(&topology.Result{Graph: n.graph, Hierarchy: unknown}, &Settings{Locations: at})
		if err != nil {
			t.Fatal(err)
		}
		want := topology.KindUnknown
		if hosts == "aabb" {
			want = topology.KindHost
		}
		if got := other.Hierarchy().Levels()[0].Kind; got != want {
			t.Errorf("hosts %s: kind %q, want %q", hosts, got, want)
		}
	}
}

func TestResourcesAreChecked(t *testing.T) {
	for _, r := range []Resource{
		{Kind: topology.KindHost},
		{Kind: topology.KindCache, Bytes: -1},
		{Kind: topology.KindNUMA, Bandwidth: -1},
		{Kind: topology.KindCache, Groups: [][]int{{3}}},
		{Kind: topology.KindCache, Groups: [][]int{{7, 8}}},
		{Kind: topology.KindCache, Groups: [][]int{{-1, 0}}},
		{Kind: topology.KindCache, Groups: [][]int{{0, 1}, {1, 2}}},
		{Kind: topology.KindCache, Groups: [][]int{{0, 0}}},
	} {
		if _, err := checkResources([]Resource{r}, 8); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
}

// A job of ranks 5, 4 and 0 of the whole: 5 and 4 are its 0 and 1, and nobody shares with its 2.
func TestViewKeepsResources(t *testing.T) {
	n := twoRacks(t, 4, fullSettings())
	view, err := n.View([]Location{n.s.Locations[5], n.s.Locations[4], n.s.Locations[0]})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", view.Settings().Resources), "[{Kind:cache Bytes:33554432 Bandwidth:NaN Groups:[[0 1]] FromSystem:false} {Kind:numa Bytes:0 Bandwidth:2e+10 Groups:[] FromSystem:true}]"; got != want {
		t.Errorf("resources %s, want %s", got, want)
	}
}

// By hand, of a host of two processors of six cores of two threads as Linux numbers them: thread t is on core
// t mod 12, of which the first six are the first processor's. Ranks that nothing is known of stand by their cores.
func TestSideBySide(t *testing.T) {
	var ranks []int
	cores := Resource{Kind: topology.KindCore}
	sockets := Resource{Kind: topology.KindSocket, Groups: make([][]int, 2)}
	for rank := range 24 {
		ranks = append(ranks, 23-rank)
		sockets.Groups[rank%12/6] = append(sockets.Groups[rank%12/6], rank)
		if rank < 12 {
			cores.Groups = append(cores.Groups, []int{rank, rank + 12})
		}
	}
	core := func(rank int) int { return rank }
	SideBySide(ranks, []Resource{cores, sockets}, core)
	const want = "[0 12 1 13 2 14 3 15 4 16 5 17 6 18 7 19 8 20 9 21 10 22 11 23]"
	if got := fmt.Sprint(ranks); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Of rank 1 alone nothing is told, and cores descend.
	ranks = []int{0, 1, 2, 3}
	SideBySide(ranks, []Resource{{Groups: [][]int{{0, 3}}}}, func(rank int) int { return -rank })
	if got := fmt.Sprint(ranks); got != "[3 0 2 1]" {
		t.Errorf("%s, want [3 0 2 1]", got)
	}
}
