package model

import (
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// Groups are those of the level with the greatest step: 0.3 us in a host of 2 cores, 8 in a rack of 2 and of 3 hosts, and
// 20 or 400 beyond, so that the host or the rack counts.
func TestRankGroupsAreThoseOfTheGreatestStep(t *testing.T) {
	network := func(within, beyond float64) *Network {
		var hosts []topology.Group
		for i := range 5 {
			hosts = append(hosts, topology.Group{Hosts: []int{2 * i, 2*i + 1}, Latency: 0.3e-6, Support: 1})
		}
		h, err := topology.NewHierarchy(11, []topology.Level{{Latency: 0.3e-6, Support: 1}, {Latency: within, Support: 1}}, append(hosts,
			topology.Group{Hosts: []int{0, 1, 2, 3}, Level: 1, Latency: within, Support: 1},
			topology.Group{Hosts: []int{4, 5, 6, 7, 8, 9}, Level: 1, Latency: within, Support: 1}), beyond)
		if err != nil {
			t.Fatal(err)
		}
		g, err := topology.NewGraph(11, 0, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{R2: nan}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, x := range []struct {
		name           string
		within, beyond float64
		want           [][]int
	}{
		{"hosts", 8e-6, 20e-6, [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}}},
		{"racks, of all their hosts, without rank 10", 8e-6, 400e-6, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7, 8, 9}}},
		{"none, as all is nearly the same", 0.5e-6, 0.9e-6, nil},
	} {
		got := network(x.within, x.beyond).RankGroups(0)
		slices.SortFunc(got, slices.Compare)
		if !slices.EqualFunc(got, x.want, slices.Equal[[]int]) {
			t.Errorf("%s: groups %v, want %v", x.name, got, x.want)
		}
	}
	// Long messages see bandwidths: links of hosts and of racks are alike, and so no group is nearer.
	c, err := gen.Parse("tree:2x3 latency=20us,2us rate=1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	rate := c.Graph.Arcs()[0].Bandwidth
	n, err := New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}},
		&Settings{LevelBandwidth: []float64{rate, rate}})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.RankGroups(8); len(got) != 2 {
		t.Errorf("groups for messages of 8 bytes %v, want the two racks", got)
	}
	if got := n.RankGroups(10e6); got != nil {
		t.Errorf("groups for messages of 10 MB %v, want none", got)
	}
}
