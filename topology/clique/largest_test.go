package clique

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

func (s set) has(v int) bool { return s[v>>6]>>(v&63)&1 != 0 }

func random(rng *rand.Rand, n int, density float64) *edgeSets {
	g := newEdgeSets(n)
	for u := range n {
		for v := range u {
			if rng.Float64() < density {
				g.add(u, v)
			}
		}
	}
	return g
}

func complete(n int) *edgeSets { return random(rand.New(rand.NewPCG(0, 0)), n, 2) }

// oracle lists the maximal cliques that gonum finds, sorted.
func oracle(g *edgeSets) [][]int {
	u := simple.NewUndirectedGraph()
	for v := range g.n {
		u.AddNode(simple.Node(v))
		for w := range v {
			if g.row(v).has(w) {
				u.SetEdge(u.NewEdge(simple.Node(v), simple.Node(w)))
			}
		}
	}
	var all [][]int
	for _, c := range topo.BronKerbosch(u) {
		var ids []int
		for _, x := range c {
			ids = append(ids, int(x.ID()))
		}
		slices.Sort(ids)
		all = append(all, ids)
	}
	slices.SortFunc(all, slices.Compare)
	return all
}

func TestLargestCliqueAgreesWithGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	trials := 100
	if tooltest.Long() {
		trials = 300
	}
	for trial := range trials {
		n := rng.IntN(24)
		if trial%30 == 0 {
			n = 60 + rng.IntN(20) // more than one word
		}
		g := random(rng, n, rng.Float64()*0.9)
		if n > 24 {
			g = random(rng, n, 0.4)
		}
		want := oracle(g)
		var best []int
		for _, c := range want { // sorted: the first of the largest is the smallest list
			if len(c) > len(best) {
				best = c
			}
		}
		if c, exact, _ := g.largestClique(math.MaxInt); !exact || !slices.Equal(c, best) {
			t.Fatalf("trial %d, n %d: largest clique %v, %v, want %v", trial, n, c, exact, best)
		}
	}
}

func TestLargestCliqueOfKnownGraphs(t *testing.T) {
	cocktail := newEdgeSets(8) // all but a perfect matching: 2^4 maximal cliques (Moon and Moser 1965)
	for u := range 8 {
		for v := range u {
			if u/2 != v/2 {
				cocktail.add(u, v)
			}
		}
	}
	for _, c := range []struct {
		name    string
		g       *edgeSets
		largest []int
	}{
		{"nothing", newEdgeSets(0), nil},
		{"one vertex", newEdgeSets(1), []int{0}},
		{"three vertices without edges", newEdgeSets(3), []int{0}},
		{"the complete graph of five", complete(5), []int{0, 1, 2, 3, 4}},
		{"the cocktail party of eight", cocktail, []int{0, 2, 4, 6}},
	} {
		if got, exact, _ := c.g.largestClique(math.MaxInt); !exact || !slices.Equal(got, c.largest) {
			t.Errorf("%s: largest clique %v, want %v", c.name, got, c.largest)
		}
	}
}

func TestTheLimitEndsTheSearchForAClique(t *testing.T) {
	g := random(rand.New(rand.NewPCG(3, 4)), 200, 0.9)
	c, exact, work := g.largestClique(1000)
	if work < 1000 || work > 1000*200*200*4 { // a step colours at most 200 vertices for each of 200
		t.Errorf("the search looked at %d words in 1000 steps", work)
	}
	if exact || len(c) < 20 {
		t.Errorf("the largest clique within 1000 steps: %d vertices, exact %v, want 20 at least and not exact", len(c), exact)
	}
	for i, u := range c {
		for _, v := range c[:i] {
			if !g.row(u).has(v) {
				t.Fatalf("%v is no clique: %d and %d are not joined", c, v, u)
			}
		}
	}
}

func BenchmarkLargestClique(b *testing.B) {
	for _, n := range []int{192, 1024} {
		b.Run(fmt.Sprintf("K%d", n), func(b *testing.B) {
			g := complete(n)
			for b.Loop() {
				g.largestClique(math.MaxInt)
			}
		})
	}
}
