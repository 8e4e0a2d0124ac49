package model

import (
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// Two pods of two racks of two hosts: links of hosts are of the racks' level,
// those of racks of the pods', those of pods of the root's, in either direction.
func TestLinkLevelsOfATree(t *testing.T) {
	c, err := gen.Parse("tree:2x2x2 latency=30us,10us,2us")
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[float64]int{2e-6: 0, 10e-6: 1, 30e-6: 2}
	level := n.linkLevels()
	for i, a := range c.Graph.Arcs() {
		if level[i] != want[a.Latency] {
			t.Errorf("link %d->%d of %g s is of level %d, want %d", a.From, a.To, a.Latency, level[i], want[a.Latency])
		}
	}
}
