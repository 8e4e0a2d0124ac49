package adaptive

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// BenchmarkRecovery holds 20 seeds that no constant was chosen on to the goals of this stage, and fails where a tree is
// not exact or too much was read: run it with -benchtime=1x.
func BenchmarkRecovery(b *testing.B) {
	for _, goal := range []recovery{{n: 1024, mean: 0.06, worst: 0.09}, {n: 16384, mean: 0.009, worst: 0.015}} {
		for _, sigma := range []float64{0.01, 0.03, 0.05} {
			r := goal
			r.sigma = sigma
			b.Run(fmt.Sprintf("n=%d/noise=%g", r.n, r.sigma), func(b *testing.B) {
				for b.Loop() {
					mean, worst, rounds := r.check(b, seedsFrom(100, 20))
					b.ReportMetric(100*mean, "%mean")
					b.ReportMetric(100*worst, "%worst")
					b.ReportMetric(float64(rounds), "rounds")
				}
			})
		}
	}
}

// BenchmarkWirings finds whole machines, and fragments of them without and with the order in which the site counts its hosts.
// certificate is the share of the pairs that has to be read at least once by whoever wants to prove the groups: one per pair of
// siblings, and one per host.
func BenchmarkWirings(b *testing.B) {
	rng := rand.New(rand.NewPCG(200, 1))
	wirings := whole(b)
	wirings["made-up"] = madeUp(rng, 25)
	for _, name := range slices.Sorted(maps.Keys(wirings)) { // in one order, as all draw from rng
		cells := wirings[name]
		for _, kind := range []struct {
			name  string
			share float64
			order bool
			seeds uint64
		}{{"whole", 1, false, 1}, {"fragment", 0.05, false, 20}, {"fragment-in-order", 0.05, true, 20}} {
			b.Run(name+"/"+kind.name, func(b *testing.B) {
				for b.Loop() {
					var hosts, read, pairs, certificate, rounds float64
					for seed := range kind.seeds {
						b.StopTimer()
						m, order := fragment(rng, cells, kind.share)
						s := &Settings{Seed: seed}
						if kind.order {
							s.Order = order
						}
						b.StartTimer()
						r := explore(b, m, noise{sigma: 0.03, outliers: 0.02}, 200+seed, s)
						b.StopTimer()
						missing, extra := differ(m.sets(), groupsOf(r.Topology.Hierarchy, true))
						if missing+extra > 0 || kind.share == 1 && r.share() > 0.03 {
							b.Errorf("seed %d: of %d groups %d are not confident, %d confident ones do not exist; %.2f %% of the pairs", seed, len(m.sets()), missing, extra, 100*r.share())
						}
						hosts += float64(m.n)
						read += 100 * r.share()
						pairs += 100 * float64(r.pairs()) / (float64(m.n) * float64(m.n-1) / 2)
						certificate += 100 * m.certificate()
						rounds += float64(r.rounds)
						b.StartTimer()
					}
					k := float64(kind.seeds)
					b.ReportMetric(hosts/k, "hosts")
					b.ReportMetric(read/k, "%read")
					b.ReportMetric(pairs/k, "%pairs")
					b.ReportMetric(certificate/k, "%certificate")
					b.ReportMetric(rounds/k, "rounds")
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(kind.seeds), "s/machine")
			})
		}
	}
}

// BenchmarkPlanner tells what the planner takes for a machine of 65,536 hosts.
func BenchmarkPlanner(b *testing.B) {
	const n = 65536
	rng := rand.New(rand.NewPCG(300, n))
	m := randomMachine(rng, n, 1.35)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := explore(b, m, noise{sigma: 0.03, outliers: 0.02}, 300, nil)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.StopTimer()
		missing, extra := differ(m.sets(), groupsOf(r.Topology.Hierarchy, true))
		b.ReportMetric(float64(missing+extra), "wrong")
		b.ReportMetric(float64(r.pairs())/n, "pairs/host")
		b.ReportMetric(100*r.share(), "%read")
		b.ReportMetric(float64(r.rounds), "rounds")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MiB-allocated")
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/op")
}
