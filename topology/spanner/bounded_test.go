package spanner_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// TestSwitchesAreGivenUp: hosts behind switches have no direct links, and all 500*499 ordered pairs look like one. The
// methods stop early, say so, and find 499 links that connect the hosts: each rack of 50 by 49 short ones, and 9 long ones.
func TestSwitchesAreGivenUp(t *testing.T) {
	const hosts, rack = 500, 50
	rng := rand.New(rand.NewPCG(1, 2))
	m := mat.NewDense(hosts, hosts, nil)
	for i := range hosts {
		for j := range hosts {
			switch {
			case i == j:
			case i/rack == j/rack:
				m.Set(i, j, 4e-6*(1+0.001*rng.Float64()))
			default:
				m.Set(i, j, 20e-6*(1+0.001*rng.Float64()))
			}
		}
	}
	for name, method := range map[string]topology.Reconstructor{"witness": &spanner.Witness{KeepOverhead: true}, "greedy": &spanner.GreedyCycle{}} {
		r, err := method.Reconstruct(m)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "gave up") }) {
			t.Errorf("%s: no warning: %q", name, r.Warnings)
		}
		long := 0
		for _, a := range r.Graph.Arcs() {
			if a.From/rack != a.To/rack {
				long++
			}
		}
		if arcs := len(r.Graph.Arcs()); arcs != 2*(hosts-1) || long != 2*(hosts/rack-1) {
			t.Errorf("%s: %d arcs, %d of them between racks, want %d and %d", name, arcs, long, 2*(hosts-1), 2*(hosts/rack-1))
		}
	}
}
