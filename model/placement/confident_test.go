package placement

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// sockets is a host of four cores in two sockets of the given confidence.
func sockets(t *testing.T, confidence float64, at []model.Location) *model.Network {
	t.Helper()
	var arcs []topology.Arc
	for core := range 4 {
		arcs = topology.AppendLink(arcs, core, 4+core/2, 40e-9, math.NaN())
	}
	g, err := topology.NewGraph(4, 2, nil, topology.AppendLink(arcs, 4, 5, 20e-9, math.NaN()))
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(4, []topology.Level{{Name: "socket", Kind: topology.KindSocket, Latency: 80e-9, Confidence: confidence}}, []topology.Group{
		{Hosts: []int{0, 1}, Latency: 80e-9, Confidence: confidence}, {Hosts: []int{2, 3}, Latency: 80e-9, Confidence: confidence},
	}, 100e-9)
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{Locations: at, Measured: model.Metadata{Bytes: 8}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// By hand: sockets share memory, so that a memory-bound code takes one core of
// each; sockets that are hardly there share nothing, and cores are taken in order.
func TestServetFollowsConfidentGroups(t *testing.T) {
	for _, c := range []struct {
		confidence float64
		want       string
	}{{topology.ConfidentFrom, "[0 2]"}, {math.NaN(), "[0 2]"}, {0.89, "[0 1]"}, {0.5, "[0 1]"}} {
		place, err := Servet{MemoryBound: true}.Place(sockets(t, c.confidence, nil), 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(place); got != c.want {
			t.Errorf("sockets of confidence %g: places %s, want %s", c.confidence, got, c.want)
		}
	}
}

// Several ranks of a host that are bound to none or to several cores each, as
// Open MPI binds them to sockets, have the host in common and no core.
func TestSeveralUnboundRanksPerHost(t *testing.T) {
	n := sockets(t, 1, []model.Location{{Host: "a", Core: -1}, {Host: "a", Core: -1}, {Host: "b", Core: -1}, {Host: "b", Core: -1}})
	traffic := pairs(4) // ranks 0 and 2, 1 and 3
	traffic.Scale(1e-6, traffic)
	place, err := ByTraffic{}.Place(n, traffic)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	if err := Write(&list, "text", n, place); err != nil {
		t.Fatal(err)
	}
	host := map[string]string{}
	for line := range strings.Lines(list.String()) {
		rank, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name != "a" && name != "b" {
			t.Fatalf("line %q, want a rank and its host", line)
		}
		host[rank] = name
	}
	if host["0"] != host["2"] || host["1"] != host["3"] || host["0"] == host["1"] {
		t.Errorf("partners 0 and 2, 1 and 3 are not on one host each:\n%s", list.String())
	}
	if err := Write(&list, "rankfile", n, place); err == nil || !strings.Contains(err.Error(), "core of rank 0 is not known") {
		t.Errorf("Write of rankfile = %v, want an error: slots would be guesses", err)
	}
}
