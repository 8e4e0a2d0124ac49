package linkage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// TestRunsOfSeveralDays: a full run 15 % slower than usual, and another of half of the hosts 10 % faster, on two racks of six at 1.3 times the latency
// inside. Pooled as they are, the hosts of the second run look near to each other.
func TestRunsOfSeveralDays(t *testing.T) {
	const hosts, draws = 12, 12
	falseGroups := 0
	for seed := range uint64(draws) {
		rng := rand.New(rand.NewPCG(seed, 1))
		run := func(factor float64, has func(host int) bool) *mat.Dense {
			m := mat.NewDense(hosts, hosts, nil)
			for i := range hosts {
				for j := range hosts {
					x := 10e-6
					if i/6 != j/6 {
						x *= 1.3
					}
					m.Set(i, j, math.NaN())
					if i != j && has(i) && has(j) {
						m.Set(i, j, x*factor*math.Exp(0.01*rng.NormFloat64()))
					}
				}
			}
			return m
		}
		first := run(1.15, func(int) bool { return true })
		second := run(0.9, func(host int) bool { return host%2 == 0 })
		r, err := (&Robust{}).Reconstruct(first, second)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range r.Hierarchy.Groups()[1:] {
			isRack := len(g.Hosts) == 6 && g.Hosts[0]%6 == 0 && g.Hosts[5] == g.Hosts[0]+5
			if !isRack && g.Confidence >= topology.ConfidentFrom {
				falseGroups++
				t.Logf("seed %d: confident group %v", seed, g.Hosts)
			}
		}
	}
	if falseGroups > 0 {
		t.Errorf("%d confident groups in %d draws that are none", falseGroups, draws)
	}
}
