package placement

import (
	"fmt"
	"math"
	"strings"
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
		{"nothing is known", "core:8 host:1", Servet{MemoryBound: true}, nil, "[0 1 2 3]"},
		{"caches", "core:8 host:1", Servet{MemoryBound: true}, []model.Resource{cache}, "[0 2 4 6]"},
		{"memory", "core:8 host:1", Servet{MemoryBound: true}, []model.Resource{memory}, "[0 4 1 5]"},
		{"both", "core:8 host:1", Servet{MemoryBound: true}, []model.Resource{cache, memory}, "[0 4 2 6]"},
		{"caches that no two share go before levels of caches", "core:4 l3:2 host:1 latency=1ns", Servet{MemoryBound: true}, []model.Resource{{Kind: topology.KindCache, Bandwidth: math.NaN()}}, "[0 1 2 3]"},
		// By hand, 0.5 being what rule 3 gives to the three near ones: after 0 they weigh 9.5 and 4 weighs 10, so 5 is next;
		// then 1 and 4 weigh 19.5, 2, 3, 6 and 7 9.5; after 2 it is 7.
		{"levels of caches, and measured memory", "core:4 l3:2 host:1 latency=1ns", Servet{MemoryBound: true}, []model.Resource{{Kind: topology.KindNUMA, Bandwidth: math.NaN(), Groups: [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}}}, "[0 5 2 7]"},
		{"levels of cores", "pu:2 core:4 host:1 latency=1ns", Servet{MemoryBound: true}, nil, "[0 2 4 6]"},
		{"levels of memory", "core:4 numa:2 host:1 latency=1ns", Servet{MemoryBound: true}, nil, "[0 4 1 5]"},
		{"levels of sockets", "core:4 socket:2 host:1 latency=1ns", Servet{MemoryBound: true}, nil, "[0 4 1 5]"},
		{"levels of caches", "core:4 l3:2 host:1 latency=1ns", Servet{MemoryBound: true}, nil, "[0 4 1 5]"},
	} {
		n := network(t, c.spec, model.Settings{Resources: c.resources})
		place, err := c.servet.take(n, 4)
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
		place, err := Servet{MemoryBound: true}.Place(c.n, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(place); got != c.want {
			t.Errorf("level of kind %q: places %s, want %s", c.n.Hierarchy().Levels()[0].Kind, got, c.want)
		}
	}
}

// TestAccessDomains: hosts of 24 cores whose D processors have ways to the network of their own, each of which one process
// uses up. By hand: k processes, spread evenly, get k bandwidths of which those on one processor share one, so that
// the mean of the shares is D/k once each processor has one, and the first ratio above 1.5 is that of some k > D.
func TestAccessDomains(t *testing.T) {
	for _, d := range []int{1, 2, 3, 4, 6} {
		const cores = 24
		access := make([]float64, cores+1)
		access[0] = math.NaN()
		for k := 1; k <= cores; k++ {
			on := make([]int, d)
			for i := range k {
				on[i*cores/k*d/cores]++
			}
			mean := 0.0
			for _, n := range on {
				mean += float64(min(1, n)) / float64(k)
			}
			access[k] = 1 / mean
		}
		n := network(t, "core:24 host:2 latency=1ns", model.Settings{Degradation: &model.Degradation{Access: access}})
		domain, perHost := accessDomains(n)
		if perHost != d || domain[0] != 0 || domain[23] != d-1 || domain[24] != d {
			t.Errorf("%d processors: %d domains of a host, %v", d, perHost, domain)
		}
		// Rule 4 is the strongest of a communication-intensive code: the first 2 D ranks have a processor each.
		place, err := Servet{}.Place(n, 2*d)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[int]bool)
		for _, p := range place {
			seen[domain[p]] = true
		}
		if len(seen) != 2*d {
			t.Errorf("%d processors: places %v", d, place)
		}
	}
}

// TestRulesSayWhatTheyGoBy: of the rules of a host of equal cores none acts; each acts with what it wants.
func TestRulesSayWhatTheyGoBy(t *testing.T) {
	ratios := &model.Degradation{Access: []float64{math.NaN(), 1, 2}}
	pairs := [][]int{{0, 1}, {2, 3}}
	for _, c := range []struct {
		spec     string
		settings model.Settings
		want     [4]string
	}{
		{"core:4 host:1 latency=1ns", model.Settings{}, [4]string{}},
		{"core:4 host:1 latency=1ns", model.Settings{Resources: []model.Resource{{Kind: topology.KindCache, Bandwidth: math.NaN(), Groups: pairs}}}, [4]string{"2 groups of up to 2"}},
		{"core:4 host:1 latency=1ns", model.Settings{Resources: []model.Resource{{Kind: topology.KindNUMA, Bandwidth: math.NaN(), Groups: pairs[:1]}}}, [4]string{1: "1 group of up to 2"}},
		{"core:2 host:2 latency=1us,1ns", model.Settings{Degradation: ratios}, [4]string{2: "latencies up to 2.002 us", 3: "1 way of each host to the network"}},
	} {
		for i, rule := range (Servet{}).Rules(network(t, c.spec, c.settings)) {
			_, goesBy, _ := strings.Cut(rule, ": ")
			if wants, doesNothing := strings.CutPrefix(goesBy, "does nothing: it wants "); doesNothing && wants != "" {
				goesBy = ""
			}
			if goesBy != c.want[i] {
				t.Errorf("%s: rule %d goes by %q, want %q", c.spec, i+1, goesBy, c.want[i])
			}
		}
	}
}
