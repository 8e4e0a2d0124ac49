package cliques

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

func random(rng *rand.Rand, n int, density float64) *Graph {
	g := NewGraph(n)
	for u := range n {
		for v := range u {
			if rng.Float64() < density {
				g.AddEdge(u, v)
			}
		}
	}
	return g
}

func complete(n int) *Graph { return random(rand.New(rand.NewPCG(0, 0)), n, 2) }

func maximal(g *Graph) [][]int {
	var all [][]int
	Maximal(g, math.MaxInt, func(c []int) { all = append(all, slices.Clone(c)) })
	return all
}

// oracle lists the maximal cliques that gonum finds, sorted.
func oracle(g *Graph) [][]int {
	u := simple.NewUndirectedGraph()
	for v := range g.n {
		u.AddNode(simple.Node(v))
		for w := range v {
			if set(g.row(v)).has(w) {
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

func TestSearchesAgreeWithGonum(t *testing.T) {
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
		got := maximal(g)
		slices.SortFunc(got, slices.Compare)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("trial %d, n %d: maximal cliques %v, gonum finds %v", trial, n, got, want)
		}
		var best []int
		for _, c := range want { // sorted: the first of the largest is the smallest list
			if len(c) > len(best) {
				best = c
			}
		}
		if c, exact, _ := Largest(g, math.MaxInt); !exact || !slices.Equal(c, best) {
			t.Fatalf("trial %d, n %d: largest clique %v, %v, want %v", trial, n, c, exact, best)
		}
	}
}

func TestKnownGraphs(t *testing.T) {
	cocktail := NewGraph(8) // all but a perfect matching: 2^4 maximal cliques (Moon and Moser 1965)
	for u := range 8 {
		for v := range u {
			if u/2 != v/2 {
				cocktail.AddEdge(u, v)
			}
		}
	}
	for _, c := range []struct {
		name    string
		g       *Graph
		count   int
		largest []int
	}{
		{"nothing", NewGraph(0), 0, nil},
		{"one vertex", NewGraph(1), 1, []int{0}},
		{"three vertices without edges", NewGraph(3), 3, []int{0}},
		{"the complete graph of five", complete(5), 1, []int{0, 1, 2, 3, 4}},
		{"the cocktail party of eight", cocktail, 16, []int{0, 2, 4, 6}},
	} {
		if got := len(maximal(c.g)); got != c.count {
			t.Errorf("%s: %d maximal cliques, want %d", c.name, got, c.count)
		}
		if got, exact, _ := Largest(c.g, math.MaxInt); !exact || !slices.Equal(got, c.largest) {
			t.Errorf("%s: largest clique %v, want %v", c.name, got, c.largest)
		}
	}
}

func TestTheLimitEndsTheSearch(t *testing.T) {
	g := random(rand.New(rand.NewPCG(3, 4)), 200, 0.9)
	// A step looks at n words of n/64 at most, once for the pivot and once for the
	// intersections of every branch: 200*4 and 2*200*4 words.
	if done, work := Maximal(g, 1000, func([]int) {}); done || work < 1000 || work > 1000*(200*4+2*200*4) {
		t.Errorf("Maximal: done %v after %d words, want it to give up after 1000 steps of up to 2400 words", done, work)
	}
	c, exact, work := Largest(g, 1000)
	if work < 1000 || work > 1000*200*200*4 { // a step colours at most 200 vertices for each of 200
		t.Errorf("Largest looked at %d words in 1000 steps", work)
	}
	if exact || len(c) < 20 {
		t.Errorf("Largest within 1000 steps: %d vertices, exact %v, want 20 at least and not exact", len(c), exact)
	}
	for i, u := range c {
		for _, v := range c[:i] {
			if !set(g.row(u)).has(v) {
				t.Fatalf("%v is no clique: %d and %d are not joined", c, v, u)
			}
		}
	}
}

func BenchmarkMaximal(b *testing.B) {
	for _, c := range []struct {
		name string
		g    *Graph
	}{
		{"K1024", complete(1024)},
		{"random200x0.5", random(rand.New(rand.NewPCG(5, 6)), 200, 0.5)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = 0
				Maximal(c.g, math.MaxInt, func([]int) { n++ })
			}
			b.ReportMetric(float64(n), "cliques")
		})
	}
}

func BenchmarkLargest(b *testing.B) {
	for _, n := range []int{192, 1024} {
		b.Run(fmt.Sprintf("K%d", n), func(b *testing.B) {
			g := complete(n)
			for b.Loop() {
				Largest(g, math.MaxInt)
			}
		})
	}
}
