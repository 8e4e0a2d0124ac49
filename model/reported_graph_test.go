package model

import (
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/topology"
)

// New takes the switches of uncertain groups out of a tree, and ReportedGraph puts them back: the distances are those of the
// wiring as it was found, also from hosts of which each has a link of its own length, and of any nesting of groups.
func TestReportedGraphIsTheWiringThatWasFound(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 37))
	for trial := range 200 {
		var groups []topology.Group
		next := 0
		supports := []float64{0.5, 0.5, 1}
		// Racks of two to four hosts, of which some are two pairs; all of level 1 or 0.
		racks := 2 + r.IntN(3)
		for range racks {
			size := 2 + r.IntN(3)
			var hosts []int
			for range size {
				hosts = append(hosts, next)
				next++
			}
			if size == 4 {
				for k := range 2 {
					groups = append(groups, topology.Group{Hosts: hosts[2*k : 2*k+2], Latency: 4e-6, Level: 0, Support: supports[r.IntN(3)]})
				}
			}
			groups = append(groups, topology.Group{Hosts: hosts, Latency: 10e-6, Level: 1, Support: supports[r.IntN(3)]})
		}
		h, err := topology.NewHierarchy(next, []topology.Level{{Latency: 4e-6}, {Latency: 10e-6}}, groups, 30e-6)
		if err != nil {
			t.Fatal(err)
		}
		found, err := h.Graph()
		if err != nil {
			t.Fatal(err)
		}
		more := make([]float64, next) // s: of each host's link
		for i := range more {
			more[i] = 3e-6 * r.Float64()
		}
		var arcs []topology.Arc
		for _, a := range found.Arcs() {
			if host := min(a.From, a.To); host < next {
				a.Latency += more[host]
			}
			a.Bandwidth = 1e9
			arcs = append(arcs, a)
		}
		if found, err = found.WithArcs(arcs); err != nil {
			t.Fatal(err)
		}
		if racks == 2 && trial%2 == 0 {
			found = withoutRoot(t, found)
		}
		n, err := New(&topology.Result{Graph: found, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		reported, err := n.ReportedGraph()
		if err != nil {
			t.Fatal(err)
		}
		got, want := reported.HostDistances(), found.HostDistances()
		for i := range want {
			if !near(got[i], want[i], 1e-9) {
				t.Fatalf("trial %d: hosts %d and %d are %g s apart, want %g; groups %+v", trial, i/next, i%next, got[i], want[i], groups)
			}
		}
	}
}

// withoutRoot joins the two neighbours of the root, the first switch, by one link.
func withoutRoot(t *testing.T, g *topology.Graph) *topology.Graph {
	root := g.Hosts()
	number := func(v int) int {
		if v > root {
			v--
		}
		return v
	}
	var arcs []topology.Arc
	for _, a := range g.Arcs() {
		if a.From != root && a.To != root {
			a.From, a.To = number(a.From), number(a.To)
			arcs = append(arcs, a)
		}
	}
	ends := g.Out(root)
	arcs = topology.AppendLink(arcs, number(ends[0].To), number(ends[1].To), ends[0].Latency+ends[1].Latency, 1e9)
	joined, err := topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts()-1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return joined
}
