package cut

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
)

// ringGraph is a ring of switches with as many hosts each, on links of 1 and, between
// switches, of about 1.
func ringGraph(tb testing.TB, rng *rand.Rand, switches, hosts int) *topology.Graph {
	tb.Helper()
	n := switches * hosts
	var arcs []topology.Arc
	add := func(u, v int, latency float64) {
		arcs = topology.AppendLink(arcs, u, v, latency, 1)
	}
	for h := range n {
		add(h, n+h/hosts, 1)
	}
	for s := range switches {
		add(n+s, n+(s+1)%switches, float64(1+rng.IntN(3)))
	}
	g, err := topology.NewGraph(n, switches, nil, arcs)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// branchesThrough by its definition: every two hosts of different branches have one
// shortest path, and it leads through s. The paths are walked one by one.
func TestBranchesThroughKeepsItsPromise(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 30))
		g := ringGraph(t, rng, 5+rng.IntN(6), 1+rng.IntN(3))
		finder := topology.NewPaths(g, nil)
		through := func(from, to, s int) bool {
			tree := finder.Tree(from)
			for v := to; tree.Arc[v] >= 0; {
				if v = g.Arcs()[tree.Arc[v]].From; v == s {
					return tree.Only(to)
				}
			}
			return false
		}
		for s := g.Hosts(); s < g.Vertices(); s++ {
			branches := branchesThrough(g, s)
			taken := map[int]bool{}
			for x, a := range branches {
				for _, h := range a {
					taken[h] = true
				}
				for _, b := range branches[:x] {
					for _, h := range a {
						for _, o := range b {
							if !through(h, o, s) || !through(o, h, s) {
								t.Fatalf("seed %d, switch %d: the path of %d and %d does not lead through it alone", seed, s, h, o)
							}
						}
					}
				}
			}
			for h := range g.Hosts() { // none that fits everybody is left out
				fits := !taken[h]
				for _, b := range branches {
					for _, o := range b {
						fits = fits && through(h, o, s) && through(o, h, s)
					}
				}
				if fits {
					t.Errorf("seed %d, switch %d: host %d was left out of %v", seed, s, h, branches)
				}
			}
			if total := len(slices.Concat(branches...)); total != len(taken) {
				t.Errorf("seed %d, switch %d: %d hosts in branches, %d different", seed, s, total, len(taken))
			}
		}
	}
}

// BenchmarkAtSwitch reports the bytes that live while hosts of a ring are put in
// branches, per pair of hosts: a bit is kept of each.
func BenchmarkAtSwitch(b *testing.B) {
	for _, n := range []int{512, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := ringGraph(b, rand.New(rand.NewPCG(1, 31)), n/8, 8)
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				branches := branchesThrough(g, g.Hosts())
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(branches)
			}
			b.ReportMetric(float64(after.HeapSys-min(before.HeapSys, after.HeapSys))/(1<<20), "MiB-heap-grown")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(n*n), "B-allocated/n^2")
		})
	}
}
