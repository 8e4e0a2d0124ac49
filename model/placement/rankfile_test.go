package placement

import (
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// onHosts is a network of ranks on the given CPUs of hosts, "a:0 a:1 b:0", with what their systems
// tell: the ranks that share a socket and those that share a core.
func onHosts(t testing.TB, ranks string, sockets, cores [][]int) *model.Network {
	t.Helper()
	var s model.Settings
	for _, r := range strings.Fields(ranks) {
		host, cpu, _ := strings.Cut(r, ":")
		s.Locations = append(s.Locations, model.Location{Host: host, Core: strings.Index("0123456789", cpu)})
	}
	if sockets != nil {
		s.Resources = append(s.Resources, model.Resource{Kind: topology.KindSocket, FromSystem: true, Bandwidth: math.NaN(), Groups: sockets})
	}
	if cores != nil {
		s.Resources = append(s.Resources, model.Resource{Kind: topology.KindCore, FromSystem: true, Bandwidth: math.NaN(), Groups: cores})
	}
	n := len(s.Locations)
	var arcs []topology.Arc
	for v := range n {
		arcs = topology.AppendLink(arcs, v, n, 1e-6, 1e9)
	}
	g, err := topology.NewGraph(n, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(n, nil, nil, 2e-6)
	if err != nil {
		t.Fatal(err)
	}
	network, err := model.New(&topology.Result{Graph: g, Hierarchy: h}, &s)
	if err != nil {
		t.Fatal(err)
	}
	return network
}

// Sockets and cores by hand, as hwloc numbers them: by their lowest CPU.
func TestRankfileSlots(t *testing.T) {
	none := [][]int{}
	for _, c := range []struct {
		name, ranks    string
		sockets, cores [][]int
		place          []int
		want           string
	}{
		{"two sockets", "a:0 a:1 a:2 a:3", [][]int{{0, 1}, {2, 3}}, none, []int{3, 2, 1, 0}, "1:1 1:0 0:1 0:0"},
		{"CPUs in turns", "a:0 a:1 a:2 a:3", [][]int{{0, 2}, {1, 3}}, none, []int{0, 1, 2, 3}, "0:0 1:0 0:1 1:1"},
		{"ranks in another order", "a:3 a:2 a:1 a:0", [][]int{{0, 2}, {1, 3}}, none, []int{0, 1, 2, 3}, "1:1 0:1 1:0 0:0"},
		{"two threads a core", "a:0 a:1 a:2 a:3", [][]int{{0, 1, 2, 3}}, [][]int{{0, 2}, {1, 3}}, []int{0, 3}, "0:0 0:1"},
		{"two hosts", "a:0 b:0 a:1 b:1", [][]int{{0, 2}}, none, []int{0, 1, 2, 3}, "0:0 0:0 0:1 1:0"},
		{"two ranks on a core", "a:0 a:1 a:2 a:3", [][]int{{0, 1, 2, 3}}, [][]int{{0, 2}, {1, 3}}, []int{0, 2}, "0 2"},
		{"a CPU not measured", "a:0 a:2", [][]int{{0, 1}}, none, []int{0, 1}, "0 2"},
		{"cores not told", "a:0 a:1", [][]int{{0, 1}}, nil, []int{0, 1}, "0 1"},
		{"sockets not told", "a:0 a:1", nil, none, []int{0, 1}, "0 1"},
	} {
		var b strings.Builder
		if err := Write(&b, "rankfile", onHosts(t, c.ranks, c.sockets, c.cores), c.place); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var slots []string
		for line := range strings.Lines(b.String()) {
			if _, slot, ok := strings.Cut(strings.TrimSpace(line), " slot="); ok {
				slots = append(slots, slot)
			}
		}
		physical := strings.Contains(b.String(), "rmaps_rank_file_physical")
		if got := strings.Join(slots, " "); got != c.want || physical == strings.Contains(c.want, ":") {
			t.Errorf("%s: %s, want %s\n%s", c.name, got, c.want, b.String())
		}
	}
}

func TestWriteMPICH(t *testing.T) {
	for _, c := range []struct {
		name, ranks string
		want        string // the line, or part of the error
	}{
		{"in blocks", "a:0 a:1 b:0 b:1", "-hosts a:2,b:2 -bind-to user:0,1\n"},
		{"in turns", "a:3 b:3 a:1 b:1 a:2", "-hosts a:1,b:1 -bind-to user:3,1,2\n"},
		{"fewer on the last", "a:1 a:0 b:1", "-hosts a:2,b:1 -bind-to user:1,0\n"},
		{"more on the last", "a:1 b:1 b:0", "-hosts a:1,b:2 -bind-to user:1,0\n"},
		{"out of turn", "a:0 b:0 b:1 a:1 a:2", "rank 4 on a: Hydra deals out ranks in turns, and it is that of b"},
		{"other CPUs", "a:0 a:1 b:1 b:0", "CPUs [1 0] on b, [0 1] on another host"},
		{"a CPU that is not known", "a:0 a:x", "the core of rank 1 is not known"},
		{"a host that is not known", ":0", "the host of rank 0 is not known"},
	} {
		n := onHosts(t, c.ranks, nil, nil)
		place := make([]int, n.Ranks())
		for i := range place {
			place[i] = i
		}
		var b strings.Builder
		if err := Write(&b, "mpich", n, place); b.String() != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v; want %q", c.name, b.String(), err, c.want)
		}
	}
}
