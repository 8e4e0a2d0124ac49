package fit

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// observed is what discover sees of a cluster: latencies of all pairs, of which
// linkage.Robust makes the wiring, and times of long messages of up to eight pairs of
// each level, alone. The times are those of the true machine.
func observed(t testing.TB, spec string, r *rand.Rand) (truth *model.Network, fitted *Result) {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if truth, err = model.FromGraph(c.Graph, c.Choice); err != nil {
		t.Fatal(err)
	}
	latencies, err := c.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := (&linkage.Robust{}).Reconstruct(latencies)
	if err != nil {
		t.Fatal(err)
	}
	confident := seen.Hierarchy.Confident(topology.ConfidentFrom)
	var observations []Observation
	pairs := make([]int, len(confident.Levels())+1)
	for range 200 * len(pairs) {
		// From a host to one of a group around it, so that each level has its chance.
		src := r.IntN(confident.Hosts())
		g := confident.Smallest(src)
		for confident.Groups()[g].Parent >= 0 && r.IntN(2) == 0 {
			g = confident.Groups()[g].Parent
		}
		among := confident.Groups()[g].Hosts
		dst := among[r.IntN(len(among))]
		if src == dst || pairs[confident.Groups()[confident.Common(src, dst)].Level] == 8 {
			continue
		}
		pairs[confident.Groups()[confident.Common(src, dst)].Level]++
		for _, bytes := range []int64{64 << 10, 1 << 20} {
			ts := []model.Transfer{{Src: src, Dst: dst, Bytes: bytes}}
			seconds, err := truth.Predict(nil, ts)
			if err != nil {
				t.Fatal(err)
			}
			observations = append(observations, Observation{Transfers: ts, Seconds: seconds})
		}
	}
	if fitted, err = Network(seen, observations, nil); err != nil {
		t.Fatal(err)
	}
	return truth, fitted
}

// TestEveryPairIsPredicted: of machines of each kind from 8 to 1,024 ranks, of
// which a few pairs exchanged long messages, the file predicts every pair (or
// 10,000 of them) and a random pattern of 1,000 transfers. Single transfers come out
// as on the true machine, and so do patterns where links nearer to the hosts are
// the faster ones, and the wiring is found: other rings of eight explain the times
// of a torus of 4 x 2, and uplinks that hold no single transfer up are not seen.
func TestEveryPairIsPredicted(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	pattern := map[string]float64{ // median error, where it is above 0.1
		"torus:4x2": 1, "tree:2x4x8 latency=20us,8us,2us rate=10Gbps,10Gbps,2.5Gbps": 3.5,
	}
	specs := []string{
		"star:8", "tree:2x4", "ring:8", "torus:4x2", "fattree:2,4", "dragonfly:1,2,1",
		"tree:2x4x8 latency=20us,8us,2us", "tree:[2,5,5]x8", "tree:[[2,3],[4]]x3 latency=40us,20us,8us,2us",
		"tree:2x4x8 latency=20us,8us,2us rate=2.5Gbps,10Gbps,10Gbps", "tree:4x4x4 latency=20us,8us,2us rate=2.5Gbps,5Gbps,20Gbps", "tree:2x4x8 latency=20us,8us,2us rate=10Gbps,10Gbps,2.5Gbps", "ring:16 hosts=4", "torus:8x8", "torus:4x4 hosts=4", "fattree:4", "fattree:8,8;1,4", "dragonfly:2,4,2",
	}
	if tooltest.Long() {
		specs = append(specs, "tree:8x16x8 latency=20us,8us,2us", "tree:[3,30,95]x8", "ring:32 hosts=32", "torus:8x8 hosts=16", "fattree:16", "dragonfly:4,8,4")
	}
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 3))
			truth, fitted := observed(t, spec, r)
			var file bytes.Buffer
			if err := fitted.Network.Write(&file); err != nil {
				t.Fatal(err)
			}
			n, err := model.Read(&file)
			if err != nil {
				t.Fatal(err)
			}
			counted := 0
			for _, w := range n.Warnings() {
				if bytes.Contains([]byte(w), []byte("were not measured")) {
					counted++
				}
			}
			if counted > 1 {
				t.Errorf("%d warnings count what was not measured, want one: %q", counted, n.Warnings())
			}
			p, err := n.NewPredictor(nil)
			if err != nil {
				t.Fatal(err)
			}
			ranks := n.Ranks()
			var off []float64
			check := func(src, dst int) {
				ts := []model.Transfer{{Src: src, Dst: dst, Bytes: 1 << 20}}
				got, err := p.Predict(nil, ts)
				if err != nil {
					t.Fatal(err)
				}
				if x := n.Time(src, dst, 1<<20); !(x > 0) || math.IsInf(x, 0) {
					t.Fatalf("Time(%d, %d, 1 MiB) = %g", src, dst, x)
				}
				want, err := truth.Predict(nil, ts)
				if err != nil {
					t.Fatal(err)
				}
				off = append(off, math.Abs(got[0]/want[0]-1))
			}
			if ranks <= 100 {
				for src := range ranks {
					for dst := range ranks {
						if src != dst {
							check(src, dst)
						}
					}
				}
			} else {
				for range 10000 {
					src := r.IntN(ranks)
					check(src, (src+1+r.IntN(ranks-1))%ranks)
				}
			}
			if got := quantile(off, 0.9); got > 0.05 {
				t.Errorf("one transfer of ten is off by more than %.3f alone, want at most 0.05", got)
			}
			var ts []model.Transfer
			for range 1000 {
				src := r.IntN(ranks)
				ts = append(ts, model.Transfer{Src: src, Dst: (src + 1 + r.IntN(ranks-1)) % ranks, Bytes: 1 + r.Int64N(1<<22)})
			}
			got, err := p.Predict(nil, ts)
			if err != nil {
				t.Fatal(err)
			}
			want, err := truth.Predict(nil, ts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = math.Abs(got[i]/want[i] - 1)
			}
			most := max(0.1, pattern[spec])
			if off := quantile(got, 0.5); off > most {
				t.Errorf("transfers of a pattern are off by %.3f in the median, want at most %g", off, most)
			}
		})
	}
}
