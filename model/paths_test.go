package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// Every link has another bandwidth, so that of equally short paths each has its own: that of
// the path on which messages are timed must be that of the route on which flows are predicted.
func TestPathsAreThoseOfRoutesWhereTheyTie(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	type machine struct {
		name  string
		graph *topology.Graph
	}
	var machines []machine
	for _, name := range []string{"fattree:4", "fattree:4,4", "torus:4x4x3", "ring:6 hosts=2", "dragonfly:2,4,2", "star:5"} {
		c, err := gen.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, machine{name, c.Graph})
	}
	// Hosts and switches wired at random, some links one way, latencies of two kinds and some not known.
	for k := range 40 {
		hosts, switches := 2+rng.IntN(8), rng.IntN(12)
		n := hosts + switches
		var arcs []topology.Arc
		for u := range n {
			for v := range u {
				if rng.IntN(3) > 0 {
					continue
				}
				arcs = topology.AppendLink(arcs, u, v, []float64{1e-6, 2e-6, math.NaN()}[rng.IntN(3)], 1)
				if rng.IntN(6) == 0 {
					arcs = arcs[:len(arcs)-1]
				}
			}
		}
		g, err := topology.NewGraph(hosts, switches, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, machine{fmt.Sprintf("wiring %d at random", k), g})
	}
	for _, m := range machines {
		arcs := slices.Clone(m.graph.Arcs())
		for i, x := range rng.Perm(len(arcs)) {
			arcs[i].Bandwidth = 1e6 * float64(1+x)
		}
		g, err := m.graph.WithArcs(arcs)
		if err != nil {
			t.Fatal(err)
		}
		routes, err := topology.NewRoutes(g, topology.ChooseLowest)
		if err != nil {
			t.Fatal(err)
		}
		table := newPathTable(g)
		for src := range g.Hosts() {
			for dst := range g.Hosts() {
				route, err := routes.AppendRoute(nil, src, dst)
				latency, bandwidth := table.between(src, dst)
				if src == dst || err != nil {
					if err != nil && !math.IsInf(latency, 1) {
						t.Errorf("%s: %d->%d takes %g s, want +Inf: %v", m.name, src, dst, latency, err)
					}
					continue
				}
				var length float64
				least := math.Inf(1)
				for _, a := range route {
					if l := g.Arcs()[a].Latency; !math.IsNaN(l) {
						length += l
					}
					least = min(least, g.Arcs()[a].Bandwidth)
				}
				// The table rounds to 24 bits.
				if math.Abs(latency-length) > 1e-6*length {
					t.Errorf("%s: %d->%d takes %g s, want %g", m.name, src, dst, latency, length)
				}
				if bandwidth != least {
					t.Errorf("%s: path %d->%d carries %g B/s, the route %g", m.name, src, dst, bandwidth, least)
				}
			}
		}
	}
}
