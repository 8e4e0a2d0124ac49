package paths_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/topocast/topocast/internal/paths"
)

// Independent code: of all shortest paths that gonum lists, those with the fewest vertices, in their order.
func TestFewestFindsTheShortestPathsWithTheFewestArcs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		n := 2 + rng.IntN(12)
		out, g := randomArcs(rng, n, rng.IntN(4*n))
		for v := range out {
			slices.SortFunc(out[v], func(a, b paths.Arc) int { return cmp.Compare(a.To, b.To) })
		}
		src := rng.IntN(n)
		dist, hops := make([]float64, n), make([]int32, n)
		paths.From(out, src, dist, nil)
		order := paths.Fewest(out, src, dist, hops, nil)

		all := path.DijkstraAllFrom(simple.Node(src), g)
		type route []int
		var want []route
		for v := range n {
			var best route
			lists, _ := all.AllTo(int64(v))
			for _, nodes := range lists {
				var r route
				for _, node := range nodes {
					r = append(r, int(node.ID()))
				}
				if best == nil || len(r) < len(best) || len(r) == len(best) && slices.Compare(r, best) < 0 {
					best = r
				}
			}
			switch {
			case best == nil && hops[v] != math.MaxInt32:
				t.Fatalf("Fewest(%d): %d arcs to %d, which no path reaches", src, hops[v], v)
			case best != nil && int(hops[v]) != len(best)-1:
				t.Fatalf("Fewest(%d): %d arcs to %d, want %d", src, hops[v], v, len(best)-1)
			case best != nil:
				want = append(want, best)
			}
		}
		slices.SortFunc(want, func(a, b route) int { return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) })
		for k, r := range want {
			if v := r[len(r)-1]; order[k] != v {
				t.Fatalf("Fewest(%d) came to %v, want the ends of %v", src, order, want)
			}
		}
	}
}

// By 1e-12 more no length differs from another, so the one arc is a shortest path, too, and has fewer arcs.
func TestFewestTakesLengthsForEqualThatRoundingParts(t *testing.T) {
	out := [][]paths.Arc{{{To: 1, Length: 1}, {To: 2, Length: 3 * (1 + 1e-12)}}, {{To: 2, Length: 2}}, nil}
	dist, hops := make([]float64, 3), make([]int32, 3)
	paths.From(out, 0, dist, nil)
	if paths.Fewest(out, 0, dist, hops, nil); hops[2] != 1 {
		t.Errorf("Fewest: %d arcs to 2, want 1", hops[2])
	}
}
