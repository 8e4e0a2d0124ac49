package topology_test

import (
	"testing"

	"github.com/topocast/topocast/internal/topotest"
)

// TestLinkAbove: by hand, in two racks of three switches with four hosts: hosts are 0 to 23, the switches follow, from coarse
// to fine.
func TestLinkAbove(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:2x3x4")
	g := c.Graph
	above := func(v int) int { // the switch above a vertex, by the latency: coarse links are longer
		up, longest := -1, 0.0
		for _, a := range g.Out(v) {
			if g.IsSwitch(a.To) && a.Latency >= longest {
				up, longest = a.To, a.Latency
			}
		}
		return up
	}
	leaf := above(5)
	for _, x := range []struct {
		name     string
		hosts    []int
		from, to int
	}{
		{"one host", []int{5}, 5, leaf},
		{"the hosts of a switch", []int{4, 5, 6, 7}, leaf, -1},
		{"all others than these", []int{0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, -1, leaf},
	} {
		from, to, ok := g.LinkAbove(x.hosts)
		if !ok || x.from >= 0 && from != x.from || x.to >= 0 && to != x.to {
			t.Errorf("%s: LinkAbove = %d, %d, %v, want %d, %d", x.name, from, to, ok, x.from, x.to)
		}
		if ok && g.ArcIndex(from, to) < 0 {
			t.Errorf("%s: there is no link from %d to %d", x.name, from, to)
		}
	}
	for _, hosts := range [][]int{nil, {0, 1}, {0, 4}, {0, 1, 2, 3, 4}} {
		if from, to, ok := g.LinkAbove(hosts); ok {
			t.Errorf("LinkAbove(%v) = %d, %d, want none", hosts, from, to)
		}
	}
	ring, _ := topotest.Generate(t, "ring:6")
	if _, _, ok := ring.Graph.LinkAbove([]int{0}); ok {
		t.Error("a ring has a link above a host")
	}
}
