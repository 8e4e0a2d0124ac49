package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/topology"
)

// tiedGraph has hosts on random switches, many of them on several, and links of few different
// latencies, so that many routes are equally short, and of different bandwidths.
func tiedGraph(t testing.TB, r *rand.Rand) *topology.Graph {
	hosts, switches := 2+r.IntN(6), 1+r.IntN(8)
	seen := make(map[[2]int]bool)
	var arcs []topology.Arc
	for range 3 * (hosts + switches) {
		u, v := r.IntN(hosts+switches), r.IntN(hosts+switches)
		if u > v {
			u, v = v, u
		}
		if u == v || seen[[2]int{u, v}] {
			continue
		}
		seen[[2]int{u, v}] = true
		latency := float64(1+r.IntN(3)) * 1e-6
		arcs = topology.AppendLink(arcs, u, v, latency, float64(1+r.IntN(9))*1e8)
		if r.IntN(8) == 0 {
			arcs = arcs[:len(arcs)-1] // one way
		}
	}
	g, err := topology.NewGraph(hosts, switches, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Asked again, Time allocates nothing, also where it has to walk the route.
func TestTimeOnSpreadRoutesDoesNotAllocate(t *testing.T) {
	n := fromSpec(t, "fattree:4 rate=1Gbps routing=modulo")
	if got := testing.AllocsPerRun(100, func() { n.Time(0, n.Ranks()-1, 1e6) }); got != 0 {
		t.Errorf("Time allocates %g times", got)
	}
}

// Time is that of a message over the route on which Predict lets transfers flow, also where
// other routes are as short: the latencies of its links and the size over the least bandwidth. It
// is infinite where there is no route.
func TestTimeIsThatOfTheRoute(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	const bytes = 1e6
	for trial := range 300 {
		g := tiedGraph(t, r)
		for _, choice := range []topology.RouteChoice{topology.ChooseLowest, topology.ChooseModulo, topology.ChooseHashed} {
			n, err := FromGraph(g, choice)
			if err != nil {
				t.Fatal(err)
			}
			routes, err := topology.NewRoutes(g, choice)
			if err != nil {
				t.Fatal(err)
			}
			for src := range g.Hosts() {
				for dst := range g.Hosts() {
					if src == dst {
						continue
					}
					route, err := routes.AppendRoute(nil, src, dst)
					want, slowest := math.Inf(1), math.Inf(1)
					if err == nil {
						want = 0
						for _, arc := range route {
							want += g.Arcs()[arc].Latency
							slowest = math.Min(slowest, g.Arcs()[arc].Bandwidth)
						}
					}
					if got := n.Time(src, dst, bytes); !near(got, want+bytes/slowest, 1e-6) {
						t.Fatalf("trial %d, %v: Time(%d, %d) = %g s, over the route %v %g", trial, choice, src, dst, got, route, want+bytes/slowest)
					}
				}
			}
		}
	}
}
