package check

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
)

// TestLinksWithoutLatency: where the wiring has it that links of hosts take no time, as a fit may, nobody is taken to be slow
// for that, and what is slow is found.
func TestLinksWithoutLatency(t *testing.T) {
	for want, slow := range map[string]func(*machine, *topology.Graph){
		"":        func(*machine, *topology.Graph) {},
		"host h5": func(m *machine, _ *topology.Graph) { m.host[5] = 1.5 },
		"link s0 - s1": func(m *machine, g *topology.Graph) {
			m.latency[g.ArcIndex(32, 33)] *= 3
			m.latency[g.ArcIndex(33, 32)] *= 3
		},
	} {
		m := newMachine(t, "tree:4x8", 1)
		arcs := slices.Clone(m.cluster.Graph.Arcs())
		for i := range arcs {
			if min(arcs[i].From, arcs[i].To) < m.cluster.Graph.Hosts() {
				arcs[i].Latency = 0
			}
		}
		g, err := m.cluster.Graph.WithArcs(arcs)
		if err != nil {
			t.Fatal(err)
		}
		slow(m, g)
		s := m.settings(1)
		s.Graph = g
		r, err := find(context.Background(), &job{hosts: g.Hosts(), measure: m.read}, s)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range r.Named() {
			got += x.Name
		}
		if got != want || math.IsNaN(r.Noise) {
			t.Errorf("named are %q, measurements spread by %g: want %q and a number", got, r.Noise, want)
		}
	}
}
