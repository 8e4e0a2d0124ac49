package placement

import (
	"fmt"
	"math"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Cores 0 1, 2 3, ... share a cache, 0 to 3 and 4 to 7 memory, whatever levels there are. By hand, of a
// memory-bound code on one host of 8 cores of equal latency, where rule 3 does nothing: after
// core 0, core 1 weighs 20, 2 and 3 weigh 10, the others 0, so 4 is next; then 2 and 6 weigh 10.
func TestServetFollowsResources(t *testing.T) {
	cache := model.Resource{Kind: topology.KindCache, Bandwidth: math.NaN(), Groups: [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}}
	memory := model.Resource{Kind: topology.KindNUMA, Bandwidth: math.NaN(), Groups: [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}}
	for _, c := range []struct {
		name      string
		spec      string
		servet    Servet
		resources []model.Resource
		want      string
	}{
		{"nothing is known", "core:8 host:1", Servet{Workload: MemoryBound}, nil, "[0 1 2 3]"},
		{"caches", "core:8 host:1", Servet{Workload: MemoryBound}, []model.Resource{cache}, "[0 2 4 6]"},
		{"memory", "core:8 host:1", Servet{Workload: MemoryBound}, []model.Resource{memory}, "[0 4 1 5]"},
		{"both", "core:8 host:1", Servet{Workload: MemoryBound}, []model.Resource{cache, memory}, "[0 4 2 6]"},
		{"both, but the settings say none", "core:8 host:1", Servet{Workload: MemoryBound, Cache: []int{}, Memory: []int{}}, []model.Resource{cache, memory}, "[0 1 2 3]"},
		{"caches that no two share go before levels of caches", "core:4 l3:2 host:1 latency=1ns", Servet{Workload: MemoryBound}, []model.Resource{{Kind: topology.KindCache, Bandwidth: math.NaN()}}, "[0 1 2 3]"},
		// By hand, 0.5 being what rule 3 gives to the three near ones: after 0 they weigh 9.5 and 4 weighs 10, so 5 is next;
		// then 1 and 4 weigh 19.5, 2, 3, 6 and 7 9.5; after 2 it is 7.
		{"levels of caches, and measured memory", "core:4 l3:2 host:1 latency=1ns", Servet{Workload: MemoryBound}, []model.Resource{{Kind: topology.KindNUMA, Bandwidth: math.NaN(), Groups: [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}}}, "[0 5 2 7]"},
		{"levels of cores", "pu:2 core:4 host:1 latency=1ns", Servet{Workload: MemoryBound}, nil, "[0 2 4 6]"},
		{"levels of memory", "core:4 numa:2 host:1 latency=1ns", Servet{Workload: MemoryBound}, nil, "[0 4 1 5]"},
		{"levels of sockets", "core:4 socket:2 host:1 latency=1ns", Servet{Workload: MemoryBound}, nil, "[0 4 1 5]"},
		{"levels of caches", "core:4 l3:2 host:1 latency=1ns", Servet{Workload: MemoryBound}, nil, "[0 4 1 5]"},
	} {
		n := network(t, c.spec, model.Settings{Resources: c.resources})
		place, err := c.servet.Place(n, 4)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := fmt.Sprint(place); got != c.want {
			t.Errorf("%s: places %s, want %s", c.name, got, c.want)
		}
	}
}

// A level that is called socket but of no known kind decides nothing.
func TestServetReadsKindsNotNames(t *testing.T) {
	n := network(t, "core:4 socket:2 host:1 latency=1ns", model.Settings{})
	unknown, err := n.Hierarchy().WithKinds(make([]topology.Kind, len(n.Hierarchy().Levels())))
	if err != nil {
		t.Fatal(err)
	}
	other, err := model.New(&topology.Result{Graph: n.Graph(), Hierarchy: unknown}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n    *model.Network
		want string
	}{{n, "[0 4]"}, {other, "[0 1]"}} {
		place, err := Servet{Workload: MemoryBound}.Place(c.n, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(place); got != c.want {
			t.Errorf("level of kind %q: places %s, want %s", c.n.LevelKind(0), got, c.want)
		}
	}
}
