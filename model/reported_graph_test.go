package model

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/topocast/topocast/topology"
)

// uncertainRacks is a tree of racks below one switch, and the network of it. Each second rack is uncertain, and the first host
// of each third rack hangs on a link that is eight times as slow.
func uncertainRacks(t testing.TB, racks, perRack int) (*topology.Graph, *Network) {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	hosts := racks * perRack
	var arcs []topology.Arc
	var groups []topology.Group
	for k := range racks {
		rack := topology.Group{Latency: 2e-6, Confidence: 1 - 0.5*float64(k%2)}
		for i := range perRack {
			link := 1e-6 * (1 + 0.02*(2*r.Float64()-1))
			if i == 0 && k%3 == 0 {
				link *= 8
			}
			rack.Hosts = append(rack.Hosts, k*perRack+i)
			arcs = topology.AppendLink(arcs, k*perRack+i, hosts+1+k, link, 1e9)
		}
		arcs = topology.AppendLink(arcs, hosts+1+k, hosts, 2e-6+2e-6*r.Float64(), nan)
		groups = append(groups, rack)
	}
	g, err := topology.NewGraph(hosts, racks+1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(hosts, []topology.Level{{Name: "rack", Latency: 2e-6}}, groups, 8e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g, n
}

// The truth is the tree before its uncertain groups were cut. Links of hosts differ by 2 %, and so may distances.
func TestReportedGraphHasTheDistancesOfTheTree(t *testing.T) {
	truth, n := uncertainRacks(t, 6, 7)
	reported, err := n.ReportedGraph()
	if err != nil {
		t.Fatal(err)
	}
	if cut := n.Graph().Vertices(); cut >= truth.Vertices() || reported.Vertices() != truth.Vertices() {
		t.Fatalf("%d vertices decide, %d are reported, want fewer than %d, and all", cut, reported.Vertices(), truth.Vertices())
	}
	got := reported.HostDistances()
	for i, want := range truth.HostDistances() {
		if math.Abs(got[i]-want) > 0.04*want {
			t.Errorf("distance of ranks %d and %d is %g s, want %g s", i/truth.Hosts(), i%truth.Hosts(), got[i], want)
		}
	}
	uncertain := 0
	for _, a := range reported.Arcs() {
		switch a.Probability {
		case 1:
		case 0.5:
			uncertain++
		default:
			t.Errorf("arc %v has the probability %g", a, a.Probability)
		}
	}
	if uncertain != 2*3 {
		t.Errorf("%d arcs have the confidence of their group, want both directions of three uplinks", uncertain)
	}
}

// By hand: an uncertain pair in an uncertain group of three beside a confident group of two. Both halves meet at a switch that has
// no other links. The group of three is 12 us wide and hangs on 10 us.
func TestReportedGraphNestsUncertainGroups(t *testing.T) {
	var arcs []topology.Arc
	for host, at := range []struct {
		vertex  int
		latency float64
	}{{6, 2e-6}, {6, 2e-6}, {7, 6e-6}, {8, 2e-6}, {8, 2e-6}} {
		arcs = topology.AppendLink(arcs, host, at.vertex, at.latency, nan)
	}
	arcs = topology.AppendLink(arcs, 6, 7, 4e-6, nan)
	arcs = topology.AppendLink(arcs, 7, 5, 10e-6, nan)
	arcs = topology.AppendLink(arcs, 8, 5, 10e-6, nan)
	truth, err := topology.NewGraph(5, 4, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(5, []topology.Level{{Latency: 4e-6}, {Latency: 12e-6}}, []topology.Group{
		{Hosts: []int{0, 1}, Latency: 4e-6, Confidence: 0.5},
		{Hosts: []int{0, 1, 2}, Level: 1, Latency: 12e-6, Confidence: 0.5},
		{Hosts: []int{3, 4}, Latency: 4e-6, Confidence: 1},
	}, 28e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{Graph: truth, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	reported, err := n.ReportedGraph()
	if err != nil {
		t.Fatal(err)
	}
	got := reported.HostDistances()
	for i, want := range truth.HostDistances() {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("distance of ranks %d and %d is %g s, want %g s", i/5, i%5, got[i], want)
		}
	}
}

// A matrix of the distances of 4,096 ranks alone has 134 MB.
func TestReportedGraphNeedsNoMatrix(t *testing.T) {
	_, n := uncertainRacks(t, 64, 64)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := n.ReportedGraph(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 20e6 {
		t.Errorf("%d bytes allocated, want at most 20 MB", used)
	}
}
