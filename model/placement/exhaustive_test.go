package placement

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// leastCost is the cost of the best of all mappings of the ranks from place[len(place)] on.
func leastCost(n *model.Network, peers [][]peer, place []int, taken []bool) float64 {
	if len(place) == len(peers) {
		return cost(n, peers, place)
	}
	least := math.Inf(1)
	for at := range taken {
		if !taken[at] {
			taken[at] = true
			least = min(least, leastCost(n, peers, append(place, at), taken))
			taken[at] = false
		}
	}
	return least
}

// Reference: all mappings of five or six ranks. Messages of 20 B to 440 kB pass between half of the pairs. Exchanges of two places find a
// minimum among neighbours, not always the least one.
func TestByTrafficAgainstAllMappings(t *testing.T) {
	const trials = 30
	for _, spec := range []string{"tree:2x3 latency=9us,2us", "tree:[1,2,4] latency=9us,2us", "ring:6", "mesh:2x4", "tree:2x2x2 latency=20us,8us,2us"} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		n, err := model.FromGraph(c.Graph, topology.ChooseLowest)
		if err != nil {
			t.Fatal(err)
		}
		best, sum, worst := 0, 0.0, 0.0
		for seed := range uint64(trials) {
			r := rand.New(rand.NewPCG(seed, 9))
			ranks := 6 - int(seed%2)
			traffic := mat.NewDense(ranks, ranks, nil)
			for i := range ranks {
				for j := range ranks {
					if i != j && r.IntN(2) == 0 {
						traffic.Set(i, j, math.Exp(3+10*r.Float64()))
					}
				}
			}
			place, err := ByTraffic{}.Place(n, traffic)
			if err != nil {
				t.Fatal(err)
			}
			peers, err := peersOf(n, traffic)
			if err != nil {
				t.Fatal(err)
			}
			off := cost(n, peers, place)/leastCost(n, peers, make([]int, 0, ranks), make([]bool, n.Ranks())) - 1
			if off < 1e-9 {
				best++
			}
			sum, worst = sum+off, max(worst, off)
		}
		t.Logf("%s: %d of %d are the best, %.2f %% off in the mean, %.1f %% at worst", spec, best, trials, 100*sum/trials, 100*worst)
		if sum/trials > 0.01 {
			t.Errorf("%s: mappings cost %.1f %% more than the best in the mean, want at most 1 %%", spec, 100*sum/trials)
		}
	}
}
