package topology_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
)

// TestRenumber: it is what the generator does when it relabels a cluster, and
// undone by the numbers the other way round.
func TestRenumber(t *testing.T) {
	cluster, err := gen.Parse("tree:2x3x2 latency=9us,3us,1us spread=20% seed=4")
	if err != nil {
		t.Fatal(err)
	}
	local := []topology.LocalTopology{{Bytes: 8, Arcs: cluster.Graph.Arcs()}}
	r := &topology.Result{Graph: cluster.Graph, Hierarchy: cluster.Hierarchy, Local: local}
	host := rand.New(rand.NewPCG(1, 2)).Perm(12)
	want, err := cluster.Relabel(host)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Renumber(host)
	if err != nil {
		t.Fatal(err)
	}
	if g, w := topotest.Links(got.Graph), topotest.Links(want.Graph); g != w {
		t.Errorf("links = %s, want %s", g, w)
	}
	if g, w := topotest.Groups(got.Hierarchy), topotest.Groups(want.Hierarchy); !slices.Equal(g, w) {
		t.Errorf("groups = %v, want %v", g, w)
	}
	if len(got.Local) != 1 || got.Local[0].Bytes != 8 || !slices.Equal(got.Local[0].Arcs, want.Graph.Arcs()) {
		t.Errorf("topologies by size = %v, want the arcs of the graph", got.Local)
	}
	back := make([]int, len(host))
	for i, h := range host {
		back[h] = i
		if g, w := got.Graph.Name(h), cluster.Graph.Name(i); g != w {
			t.Errorf("host %d, once %d, is called %q, want %q", h, i, g, w)
		}
	}
	if got, err = got.Renumber(back); err != nil || topotest.Links(got.Graph) != topotest.Links(cluster.Graph) {
		t.Errorf("there and back: %v, %s, want %s", err, topotest.Links(got.Graph), topotest.Links(cluster.Graph))
	}
}

func TestRenumberWantsAPermutation(t *testing.T) {
	for _, c := range []struct {
		host []int
		want string
	}{
		{[]int{0, 1}, "2 numbers for 3 hosts"},
		{[]int{0, 1, 1}, "host 2 to 1"},
		{[]int{0, 1, 3}, "host 2 to 3"},
	} {
		star := topotest.Star(t, 3, 1)
		h, err := topology.NewHierarchy(3, nil, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&topology.Result{Graph: star, Hierarchy: h}).Renumber(c.host); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Renumber(%v) = %v, want %q", c.host, err, c.want)
		}
	}
}
