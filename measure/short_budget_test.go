package measure_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// TestShortBudgetsTellNoFalseRates: what a short budget leaves of a measurement are lower bounds of many links. A rate that is
// told as measured is that of the simulated link. Sums of a few messages and noise of 2 % leave it at most 15 % off, which is
// what compare allows. Networks still tell some rates.
func TestShortBudgetsTellNoFalseRates(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const off = 0.15
	overhead := simnet.Overhead{Seconds: 300e-9}
	for _, c := range []struct {
		spec    string
		noise   uint64          // seed
		budgets []time.Duration // in ms
	}{
		{"tree:4x4 rate=20Gbps,10Gbps rate-spread=6% seed=2", 2, []time.Duration{100}},
		{"tree:3x4x3 rate=40Gbps,20Gbps,10Gbps rate-spread=6% seed=1", 1, []time.Duration{100, 150, 500}},
		{"tree:2x2x2x4 rate=80Gbps,40Gbps,20Gbps,10Gbps rate-spread=6% seed=1", 1, []time.Duration{300, 500}},
		{"torus:4x4 rate-spread=6% seed=1", 1, []time.Duration{150}},
	} {
		cluster, err := gen.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, ms := range c.budgets {
			budget := ms * time.Millisecond
			t.Run(fmt.Sprintf("%s in %v", c.spec, budget), func(t *testing.T) {
				told := 0
				g := discovered(t, c.spec, &simnet.Settings{Send: overhead, Recv: overhead, Noise: simnet.Noise{Sigma: 0.02}, Seed: c.noise}, &measure.DiscoverSettings{
					Control: harness.Control{Budget: budget}, Sampling: measure.Sampling{Samples: 5, Repetitions: 1, Seed: 1},
				}).Network.Graph()
				for arc, rate := range trueRates(cluster.Graph, g) {
					a := g.Arcs()[arc]
					if a.Estimated || math.IsNaN(a.Bandwidth) {
						continue
					}
					told++
					if x := a.Bandwidth / rate; x < 1-off || x > 1+off {
						t.Errorf("%s->%s is told to carry %.3g B/s, carries %.3g", g.Name(a.From), g.Name(a.To), a.Bandwidth, rate)
					}
				}
				if told == 0 && budget >= 300*time.Millisecond {
					t.Error("no rate is told")
				}
			})
		}
	}
}

// trueRates are the bandwidths of the links of a machine in B/s by the arcs of a graph that was found of it: links between the same
// hosts, and those of a tree that have the same hosts on one side.
func trueRates(machine, found *topology.Graph) map[int]float64 {
	rates := make(map[int]float64)
	for _, a := range machine.Arcs() {
		from, to := a.From, a.To
		if machine.IsForest() {
			var ok bool
			if to, from, ok = found.LinkAbove(hostsBehind(machine, a.From, a.To)); !ok {
				continue
			}
		}
		if arc := found.ArcIndex(from, to); arc >= 0 {
			rates[arc] = a.Bandwidth
		}
	}
	return rates
}

// hostsBehind are the hosts of a tree that the link from u to v joins to u, ascending.
func hostsBehind(g *topology.Graph, u, v int) (hosts []int) {
	if !g.IsSwitch(v) {
		hosts = append(hosts, v)
	}
	for _, a := range g.Out(v) {
		if a.To != u {
			hosts = append(hosts, hostsBehind(g, v, a.To)...)
		}
	}
	slices.Sort(hosts)
	return hosts
}
