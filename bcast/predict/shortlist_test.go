package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
)

// What is worth timing is near the best of all plans, and little of them. The
// simulated cluster stands for the machine: its broadcasts are timed with an error
// of 5 %, all of them for the exhaustive search, each setting with each segment,
// and those of the list that Shortlist gives.
func BenchmarkShortlist(b *testing.B) {
	const noise = 0.05
	rng := rand.New(rand.NewPCG(7, 8))
	specs := clusters(12)
	for _, bytes := range []int{8, 4 << 10, 64 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("bytes=%d", bytes), func(b *testing.B) {
			for b.Loop() {
				worst, within, timed, all := 0.0, 0, 0, 0
				for i, spec := range specs {
					s := simulate(b, spec, 10e-6)
					e := New(s.network)
					p := schedule.Problem{Ranks: e.ranks, Root: (5 * i) % e.ranks, Bytes: bytes, Tree: e.tree, Costs: e.costs}
					list := schedule.Variants(schedule.Algorithms(), p)
					const most = 8
					short := e.Shortlist(list, bytes, p.Root, most)
					exhaustive, chosen, measured := math.Inf(1), 0.0, math.Inf(1)
					time := func(index, segment int) float64 {
						p.Segment = segment
						return s.play(b, list[index], p)
					}
					for _, c := range short {
						took := time(c.Index, c.Segment)
						var rounds [7]float64
						for i := range rounds {
							rounds[i] = took * (1 + noise*rng.NormFloat64())
						}
						slices.Sort(rounds[:])
						if m := rounds[len(rounds)/2]; m < measured {
							measured, chosen = m, took
						}
					}
					for index := range list {
						for segment := MinSegment; segment < bytes; segment *= 2 {
							exhaustive = min(exhaustive, time(index, segment))
							all++
						}
						exhaustive = min(exhaustive, time(index, 0))
						all++
					}
					timed += len(short)
					worst = max(worst, chosen/exhaustive)
					if chosen <= 1.05*exhaustive {
						within++
					} else {
						b.Logf("%s root %d: %.3f of the best", spec, p.Root, chosen/exhaustive)
					}
				}
				b.ReportMetric(float64(within)/float64(len(specs)), "within-5%")
				b.ReportMetric(worst, "worst/best")
				b.ReportMetric(float64(timed)/float64(all), "timed/all")
			}
		})
	}
}

// A plan is listed once, the fastest first, and segments of one setting differ by a
// factor of four.
func TestShortlistHoldsWhatDiffers(t *testing.T) {
	s := simulate(t, "tree:2x4 latency=200us,50us rate=100Mbps,200Mbps shuffle seed=1", 30e-6)
	e := New(s.network)
	list := schedule.Variants(schedule.Algorithms(), schedule.Problem{Ranks: e.ranks, Tree: e.tree, Costs: e.costs})
	for _, bytes := range []int{0, 8, 64 << 10, 1 << 20} {
		short := e.Shortlist(list, bytes, 3, 6)
		if len(short) == 0 || len(short) > 6 {
			t.Fatalf("%d bytes: %v", bytes, short)
		}
		if best := e.Candidates(list, bytes, 3)[0]; short[0].Predicted > asGood*best.Predicted {
			t.Errorf("%d bytes: %v comes first, want %v", bytes, short[0], best)
		}
		for i, c := range short {
			if c.Predicted > 2*short[0].Predicted*asGood {
				t.Errorf("%d bytes: %v, the best is %v", bytes, c, short[0])
			}
			for _, x := range short[:i] {
				if x.Index == c.Index && alike(x.Segment, c.Segment, bytes) {
					t.Errorf("%d bytes: %v and %v", bytes, x, c)
				}
			}
		}
	}
}

// Where messages cost much overhead, segments that are longer than the usual ones are found. By hand: the ranks of a chain
// are busy for two overheads or the bytes of a segment, whichever is longer. The pace is best where both are alike, at
// 25 KB for overheads of 10 us, though the whole message takes longer than usual segments.
func TestLongSegmentsAreFound(t *testing.T) {
	e := New(simulate(t, "star:8 latency=1us rate=10Gbps", 10e-6).network)
	if got := e.Candidates([]schedule.Algorithm{schedule.Chain{}}, 8<<20, 0)[0]; got.Segment < 16<<10 || got.Segment > 64<<10 {
		t.Errorf("%v, want segments of 32 KiB or a factor of two from it", got)
	}
}
