package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
)

// clusters are machines of four kinds in turn, with hosts numbered in any order: those of the emulated cluster, two racks, three levels
// and uneven racks, and racks with faster links.
func clusters(n int) []string {
	rng := rand.New(rand.NewPCG(11, 12))
	var specs []string
	for i := range n {
		var s string
		switch i % len(kinds) {
		case 0:
			s = fmt.Sprintf("tree:2x%d latency=200us,50us rate=100Mbps,200Mbps", 4+rng.IntN(5))
		case 1:
			s = fmt.Sprintf("tree:2x2x%d latency=200us,100us,50us rate=100Mbps,100Mbps,200Mbps", 2+rng.IntN(3))
		case 2:
			s = fmt.Sprintf("tree:[%d,%d,%d] latency=200us,50us rate=100Mbps,200Mbps", 1+rng.IntN(3), 2+rng.IntN(5), 3+rng.IntN(4))
		case 3:
			s = fmt.Sprintf("tree:%dx%d latency=5us,1us rate=10Gbps,10Gbps", 2+rng.IntN(4), 2+rng.IntN(6))
		}
		if rng.IntN(3) > 0 {
			s += " shuffle"
		}
		specs = append(specs, fmt.Sprintf("%s seed=%d", s, i))
	}
	return specs
}

// bound is the time in s that no broadcast can beat: the longest of the latencies
// of an empty message, and all bytes over the slowest link that they need.
func (s *simulated) bound(root, bytes int) float64 {
	most := 0.0
	for r := range s.network.Ranks() {
		if r != root {
			most = max(most, s.network.Time(root, r, int64(bytes)))
		}
	}
	return most
}

// kinds are those of the clusters.
var kinds = [...]string{"two-racks", "three-levels", "uneven", "10Gbps"}

// BenchmarkQuality tells, for the plan that is predicted to be the fastest, how far
// its time on the simulated cluster is from the bound, as the geometric mean of each kind, of those of the emulated cluster
// and of all, and how far the prediction is from that time.
func BenchmarkQuality(b *testing.B) {
	const software = 30e-6
	specs := clusters(24)
	for _, bytes := range []int{8, 1 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", bytes), func(b *testing.B) {
			for b.Loop() {
				var sums [len(kinds)]float64
				worst := 0.0
				var off []float64
				chosen := make(map[string]int)
				for i, spec := range specs {
					o := software
					kind := i % len(kinds)
					if kinds[kind] == "10Gbps" {
						o = 0.5e-6
					}
					s := simulate(b, spec, o)
					e := New(s.network)
					root := i * 7 % e.ranks
					p := schedule.Problem{Ranks: e.ranks, Root: root, Bytes: bytes, Tree: e.tree, Costs: e.costs}
					list := schedule.Variants(everything(), p)
					best := e.Candidates(list, bytes, root)[0]
					p.Segment = best.Segment
					took := s.play(b, best.Algorithm, p)
					ratio := took / s.bound(root, bytes)
					sums[kind] += math.Log(ratio)
					worst = max(worst, ratio)
					off = append(off, math.Abs(best.Predicted/took-1))
					chosen[best.Name()]++
					if testing.Verbose() {
						b.Logf("%s root %d: %v, simulated %.4g s, %.3f of the bound", spec, root, best, took, ratio)
					}
				}
				slices.Sort(off)
				each := float64(len(specs) / len(kinds))
				all := 0.0
				for kind, sum := range sums {
					b.ReportMetric(math.Exp(sum/each), kinds[kind]+"/bound")
					all += sum
				}
				lab := all - sums[len(kinds)-1]
				b.ReportMetric(math.Exp(lab/each/float64(len(kinds)-1)), "lab/bound")
				b.ReportMetric(math.Exp(all/each/float64(len(kinds))), "gm/bound")
				b.ReportMetric(worst, "worst/bound")
				b.ReportMetric(off[len(off)/2], "median-error")
				b.ReportMetric(off[len(off)-1], "worst-error")
				b.Log(chosen)
			}
		})
	}
}

// everything are all algorithms.
func everything() []schedule.Algorithm {
	return schedule.Algorithms()
}
