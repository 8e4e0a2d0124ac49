package paths_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/topocast/topocast/internal/paths"
)

// randomArcs are those of a directed graph, with lengths of which many are equal and
// some are 0, and with the same graph as gonum's.
func randomArcs(rng *rand.Rand, n, arcs int) ([][]paths.Arc, *simple.WeightedDirectedGraph) {
	g := simple.NewWeightedDirectedGraph(0, math.Inf(1))
	for v := range n {
		g.AddNode(simple.Node(v))
	}
	out := make([][]paths.Arc, n)
	for range arcs {
		u, v, w := rng.IntN(n), rng.IntN(n), float64(rng.IntN(5))
		if u == v || g.HasEdgeFromTo(int64(u), int64(v)) {
			continue
		}
		g.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(u), T: simple.Node(v), W: w})
		out[u] = append(out[u], paths.Arc{To: int32(v), Length: w})
	}
	return out, g
}

// Independent code: gonum's graph/path.
func TestFromFindsTheLengthsThatGonumFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n := 2 + rng.IntN(30)
		out, g := randomArcs(rng, n, rng.IntN(4*n))
		src := rng.IntN(n)
		want := path.DijkstraFrom(simple.Node(src), g)
		dist := make([]float64, n)
		order := paths.From(out, src, dist, nil)
		reached := 0
		for v := range n {
			if w := want.WeightTo(int64(v)); dist[v] != w {
				t.Fatalf("From(%d): %g to %d, want %g", src, dist[v], v, w)
			}
			if dist[v] < math.Inf(1) {
				reached++
			}
		}
		if len(order) != reached {
			t.Fatalf("From(%d) reached %v, want %d vertices", src, order, reached)
		}
	}
}

// Whatever the order of the arcs: it must not show, and each vertex must come after one from which an arc
// of the right length leads to it.
func TestFromOrdersVerticesAlongPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 2 + rng.IntN(30)
		out, _ := randomArcs(rng, n, rng.IntN(4*n))
		src := rng.IntN(n)
		dist := make([]float64, n)
		order := paths.From(out, src, dist, []int{-1})
		if order[0] != -1 || order[1] != src {
			t.Fatalf("From(%d) appended %v: want the source first, after what was there", src, order)
		}
		seen := map[int]bool{src: true}
		for k, v := range order[2:] {
			before := false
			for u := range seen {
				for _, a := range out[u] {
					before = before || int(a.To) == v && dist[u]+a.Length == dist[v]
				}
			}
			if last := order[1+k]; !before || dist[v] < dist[last] {
				t.Fatalf("From(%d): %d comes after %v", src, v, order[1:2+k])
			}
			seen[v] = true
		}
		for _, arcs := range out {
			rng.Shuffle(len(arcs), func(i, j int) { arcs[i], arcs[j] = arcs[j], arcs[i] })
		}
		for k, v := range paths.From(out, src, dist, nil) {
			if v != order[1+k] {
				t.Fatalf("From(%d): vertex %d came in place of %d when the arcs were shuffled", src, v, order[1+k])
			}
		}
	}
}

func TestFromTakesAnArcOfInfiniteLengthForNone(t *testing.T) {
	dist := make([]float64, 2)
	order := paths.From([][]paths.Arc{{{To: 1, Length: math.Inf(1)}}, nil}, 0, dist, nil)
	if len(order) != 1 || !math.IsInf(dist[1], 1) {
		t.Errorf("From(0) reached %v at %v, want the source alone", order, dist)
	}
}
