package model

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/gen"
)

func fromSpec(t testing.TB, spec string) *Network {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	n, err := FromGraph(c.Graph, c.Choice)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// randomTransfers are between random different ranks, of 10 to 100 MB: nearly
// every completion is an event of its own.
func randomTransfers(r *rand.Rand, ranks, count int) []Transfer {
	ts := make([]Transfer, count)
	for i := range ts {
		src := r.IntN(ranks)
		dst := (src + 1 + r.IntN(ranks-1)) % ranks
		ts[i] = Transfer{Src: src, Dst: dst, Bytes: 10e6 + r.Int64N(90e6)}
	}
	return ts
}

// BenchmarkPredict takes concurrent transfers to completion: 57 on Zhu's
// testbed, the others on a fat tree of 1,024 hosts.
func BenchmarkPredict(b *testing.B) {
	for _, c := range []struct {
		spec  string
		flows int
	}{
		{"tree:2x15 rate=10Gbps,1Gbps", 57},
		{"fattree:16 rate=1Gbps routing=modulo", 1000},
		{"fattree:16 rate=1Gbps routing=modulo", 10000},
	} {
		n := fromSpec(b, c.spec)
		for _, s := range []Sharing{{}, {Reverse: true}, {Reverse: true, AckWeight: 0.05}} {
			name := "fair"
			if s.Reverse {
				name = fmt.Sprintf("ack=%g", s.AckWeight)
			}
			b.Run(fmt.Sprintf("flows=%d/%s", c.flows, name), func(b *testing.B) {
				p, err := n.NewPredictor(&PredictSettings{Sharing: &s})
				if err != nil {
					b.Fatal(err)
				}
				ts := randomTransfers(rand.New(rand.NewPCG(1, 1)), n.Ranks(), c.flows)
				var times []float64
				b.ReportAllocs()
				for b.Loop() {
					if times, err = p.Predict(times[:0], ts); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRates finds one rate vector of 10,000 flows on the fat tree.
func BenchmarkRates(b *testing.B) {
	n := fromSpec(b, "fattree:16 rate=1Gbps routing=modulo")
	for _, s := range []Sharing{{}, {Reverse: true, AckWeight: 0.05}} {
		b.Run(fmt.Sprintf("flows=10000/ack=%g", s.AckWeight), func(b *testing.B) {
			p, err := n.NewPredictor(&PredictSettings{Sharing: &s})
			if err != nil {
				b.Fatal(err)
			}
			for _, t := range randomTransfers(rand.New(rand.NewPCG(1, 1)), n.Ranks(), 10000) {
				if err := p.add(t); err != nil {
					b.Fatal(err)
				}
			}
			solver := p.playback.solver
			ids := make([]int, len(p.jobs))
			var changed []int
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for i, j := range p.jobs {
					ids[i], _ = solver.Add(j.data, j.reverse, j.bound, j.share)
				}
				b.StartTimer()
				changed = solver.Solve(changed[:0])
				b.StopTimer()
				for _, id := range ids {
					solver.Remove(id)
				}
				solver.Solve(changed[:0])
				b.StartTimer()
			}
		})
	}
}
