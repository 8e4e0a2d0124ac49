package topology

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// wiredAtRandom has few enough arcs to be a forest now and then, some of them one way; latencies are few.
func wiredAtRandom(t *testing.T, rng *rand.Rand) *Graph {
	t.Helper()
	n := 2 + rng.IntN(12)
	var arcs []Arc
	for range rng.IntN(2 * n) {
		u, v := rng.IntN(n), rng.IntN(n)
		if u == v || slices.ContainsFunc(arcs, func(a Arc) bool { return a.From == u && a.To == v || a.From == v && a.To == u }) {
			continue
		}
		if arcs = AppendLink(arcs, u, v, float64(1+rng.IntN(3)), math.NaN()); rng.IntN(5) == 0 {
			arcs = arcs[:len(arcs)-1]
		}
	}
	g, err := NewGraph(n, 0, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Independent code: gonum's connected components, and as many links as vertices less parts.
func TestPartsAndForestsAreThoseOfGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	forests := 0
	for range 300 {
		g := wiredAtRandom(t, rng)
		out := rng.IntN(g.Vertices())
		for _, without := range [][]int{nil, {out}} {
			u := simple.NewUndirectedGraph()
			for v := range g.Vertices() {
				if !slices.Contains(without, v) {
					u.AddNode(simple.Node(v))
				}
			}
			for _, a := range g.Arcs() {
				if u.Node(int64(a.From)) != nil && u.Node(int64(a.To)) != nil {
					u.SetEdge(simple.Edge{F: simple.Node(a.From), T: simple.Node(a.To)})
				}
			}
			parts := topo.ConnectedComponents(u)
			want := make([]int, g.Vertices())
			for v := range want {
				want[v] = -1
			}
			lowest := func(nodes []graph.Node) int64 {
				return slices.MinFunc(nodes, func(a, b graph.Node) int { return int(a.ID() - b.ID()) }).ID()
			}
			slices.SortFunc(parts, func(a, b []graph.Node) int { return int(lowest(a) - lowest(b)) })
			for i, nodes := range parts {
				for _, v := range nodes {
					want[v.ID()] = i
				}
			}
			if got := g.Parts(without...); !slices.Equal(got, want) {
				t.Fatalf("Parts(%v) = %v, want %v", without, got, want)
			}
			if forest := u.Edges().Len() == g.Vertices()-len(parts); without == nil {
				if g.IsForest() != forest {
					t.Fatalf("IsForest() = %t with %d links, %d vertices and %d parts", !forest, u.Edges().Len(), g.Vertices(), len(parts))
				}
				if forest {
					forests++
				}
			}
		}
	}
	if forests < 30 || forests > 270 {
		t.Errorf("%d of 300 graphs are forests: want both kinds", forests)
	}
}

// Independent code: gonum's shortest paths; a path is the only one if gonum lists no other.
func TestTreesHoldTheShortestPathsOfGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	only, several := 0, 0
	for range 600 {
		g := wiredAtRandom(t, rng)
		src := rng.IntN(g.Vertices())
		all := path.DijkstraAllFrom(simple.Node(src), g.Weighted())
		tree := NewPaths(g, nil).Tree(src)
		for v := range g.Vertices() {
			routes, weight := all.AllTo(int64(v))
			if tree.Distance[v] != weight {
				t.Fatalf("path %d->%d: length %g, want %g", src, v, tree.Distance[v], weight)
			}
			if v == src || math.IsInf(weight, 1) {
				if tree.Arc[v] != -1 {
					t.Fatalf("path %d->%d ends with arc %d, want none", src, v, tree.Arc[v])
				}
				continue
			}
			length := 0.0
			for x := v; x != src; x = g.Arcs()[tree.Arc[x]].From {
				length += g.Arcs()[tree.Arc[x]].Latency
				if !slices.Contains(g.In(x), int(tree.Arc[x])) {
					t.Fatalf("arc %d is not among those that enter %d: %v", tree.Arc[x], x, g.In(x))
				}
			}
			if length != weight {
				t.Fatalf("path %d->%d: its arcs take %g, want %g", src, v, length, weight)
			}
			if tree.Only(v) != (len(routes) == 1) {
				t.Fatalf("Only(%d) = %t from %d, of which gonum knows %d shortest paths", v, tree.Only(v), src, len(routes))
			}
			if len(routes) == 1 {
				only++
			} else {
				several++
			}
		}
	}
	if only < 100 || several < 100 {
		t.Errorf("%d pairs with one path, %d with several: want a hundred of both", only, several)
	}
}
