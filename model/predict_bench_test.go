package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model/contention"
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
		for _, s := range []contention.Sharing{{}, {Coupling: 1}, {Coupling: 1, AckWeight: 0.05}} {
			name := "fair"
			if s.Coupling > 0 {
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

// BenchmarkPredictAtOnce takes 100,000 transfers that begin together to completion, on a fat
// tree and a tree of 1,024 hosts. Each completion changes one rate in ten, most of them by less
// than a thousandth. So the rates have a tolerance, which is 0.001 by default. Run it with -benchtime 1x.
func BenchmarkPredictAtOnce(b *testing.B) {
	for _, spec := range []string{"fattree:16 rate=1Gbps routing=modulo", "tree:32x32 rate=32Gbps,1Gbps"} {
		for _, tolerance := range []float64{0, 0.01} {
			b.Run(fmt.Sprintf("%s/tolerance=%g", spec, tolerance), func(b *testing.B) {
				n := fromSpec(b, spec)
				ts := randomTransfers(rand.New(rand.NewPCG(1, 1)), n.Ranks(), 100000)
				benchmarkMany(b, n, ts, contention.Sharing{Tolerance: tolerance})
			})
		}
	}
}

// BenchmarkPredictOverTime takes 1,000,000 transfers on 16,384 hosts to completion, with exact
// rates. They begin at random times, so that hosts send seven tenths of the time. The uplinks of
// the tree carry what their hosts can send. Run it with -benchtime 1x.
func BenchmarkPredictOverTime(b *testing.B) {
	const load, meanBytes, hostRate = 0.7, 55e6, 125e6 // share; bytes; B/s, 1 Gbit/s
	n := fromSpec(b, "tree:32x32x16 rate=512Gbps,16Gbps,1Gbps")
	r := rand.New(rand.NewPCG(1, 1))
	ts := randomTransfers(r, n.Ranks(), 1000000)
	now := 0.0
	for i := range ts {
		now += r.ExpFloat64() * meanBytes / (load * hostRate * float64(n.Ranks()))
		ts[i].Start = now
	}
	benchmarkMany(b, n, ts, contention.Sharing{})
}

func benchmarkMany(b *testing.B, n *Network, ts []Transfer, s contention.Sharing) {
	p, err := n.NewPredictor(&PredictSettings{Sharing: &s})
	if err != nil {
		b.Fatal(err)
	}
	var times []float64
	b.ReportAllocs()
	for b.Loop() {
		if times, err = p.Predict(times[:0], ts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ts)), "ns/transfer")
}

// BenchmarkRates finds one rate vector of 10,000 flows on the fat tree.
func BenchmarkRates(b *testing.B) {
	n := fromSpec(b, "fattree:16 rate=1Gbps routing=modulo")
	for _, s := range []contention.Sharing{{}, {Coupling: 1, AckWeight: 0.05}} {
		b.Run(fmt.Sprintf("flows=10000/ack=%g", s.AckWeight), func(b *testing.B) {
			p, err := n.NewPredictor(&PredictSettings{Sharing: &s})
			if err != nil {
				b.Fatal(err)
			}
			pattern, err := p.Pattern(randomTransfers(rand.New(rand.NewPCG(1, 1)), n.Ranks(), 10000), false)
			if err != nil {
				b.Fatal(err)
			}
			solver, err := contention.NewSolver(p.capacity[:n.graph.NumArcs()], &s)
			if err != nil {
				b.Fatal(err)
			}
			ids := make([]int, len(pattern.Flows))
			var changed []int
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for i, f := range pattern.Flows {
					ids[i], _ = solver.Add(f.Data, f.Reverse, math.Inf(1), 1)
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

// BenchmarkPredictCoupled predicts on networks with fitted coupling, which solves three
// problems at once: Zhu's largest pattern, and a fat tree of 1,024 hosts.
func BenchmarkPredictCoupled(b *testing.B) {
	for _, c := range []struct {
		spec  string
		flows int
	}{
		{"tree:2x15 rate=10Gbps,1Gbps", 57},
		{"fattree:16 rate=1Gbps routing=modulo", 10000},
	} {
		b.Run(fmt.Sprintf("flows=%d", c.flows), func(b *testing.B) {
			n := coupled(b, c.spec)
			ts := randomTransfers(rand.New(rand.NewPCG(1, 1)), n.Ranks(), c.flows)
			times, err := n.Predict(nil, ts)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if times, err = n.Predict(times[:0], ts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTimeOnAGraph asks for random pairs of a fat tree of 1,024 hosts.
func BenchmarkTimeOnAGraph(b *testing.B) { benchmarkTime(b, fromSpec(b, "fattree:16 rate=1Gbps")) }

// BenchmarkTimeOnSpreadRoutes has to walk each route.
func BenchmarkTimeOnSpreadRoutes(b *testing.B) {
	benchmarkTime(b, fromSpec(b, "fattree:16 rate=1Gbps routing=modulo"))
}

func benchmarkTime(b *testing.B, n *Network) {
	b.ReportAllocs()
	x, sum := uint32(1), 0.0
	for b.Loop() {
		x = x*1664525 + 1013904223
		sum += n.Time(int(x>>16)%n.Ranks(), int(x>>3)%n.Ranks(), int64(x&0xfffff))
	}
	_ = sum
}
