package throughput

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// line, star and complete are graphs whose vertices have shuffled numbers.
func shuffled(rng *rand.Rand, n int, edges [][2]int) [][2]int {
	label := rng.Perm(n)
	out := make([][2]int, len(edges))
	for i, e := range edges {
		a, b := label[e[0]], label[e[1]]
		out[i] = [2]int{min(a, b), max(a, b)}
	}
	return out
}

func lineOf(n int) (edges [][2]int) {
	for v := range n - 1 {
		edges = append(edges, [2]int{v, v + 1})
	}
	return edges
}

func starOf(n int) (edges [][2]int) {
	for v := 1; v < n; v++ {
		edges = append(edges, [2]int{0, v})
	}
	return edges
}

func ringOf(n int) [][2]int { return append(lineOf(n), [2]int{0, n - 1}) }

func completeOf(n int) (edges [][2]int) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			edges = append(edges, [2]int{a, b})
		}
	}
	return edges
}

func randomOf(rng *rand.Rand, n int, share float64) [][2]int {
	return slices.DeleteFunc(completeOf(n), func([2]int) bool { return rng.Float64() >= share })
}

// checkRounds tells what is wrong with rounds: each edge once, the edges of a
// round disjoint, none empty.
func checkRounds(edges [][2]int, rounds [][][2]int) error {
	var all [][2]int
	for i, round := range rounds {
		seen := make(map[int]bool)
		for _, e := range round {
			if seen[e[0]] || seen[e[1]] {
				return fmt.Errorf("round %d: %v meets another edge", i, e)
			}
			seen[e[0]], seen[e[1]] = true, true
		}
		if len(round) == 0 {
			return fmt.Errorf("round %d is empty", i)
		}
		all = append(all, round...)
	}
	sorted := func(edges [][2]int) [][2]int {
		return slices.SortedFunc(slices.Values(edges), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	}
	if !slices.Equal(sorted(all), sorted(edges)) {
		return fmt.Errorf("edges %v, want %v", sorted(all), sorted(edges))
	}
	return nil
}

// TestBufesKnownAnswers: a line in 2 rounds and a star in n-1 (Bufe 2014, section
// 2.3.1, figures 2.17 and 2.18), wherever the vertices stand in the numbering.
func TestBufesKnownAnswers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 3; n <= 16; n++ {
		for range 20 {
			for _, tt := range []struct {
				what  string
				edges [][2]int
				want  int
			}{
				{"line", lineOf(n), 2},
				{"star", starOf(n), n - 1},
			} {
				edges := shuffled(rng, n, tt.edges)
				rounds := packPaths(n, edges)
				if err := checkRounds(edges, rounds); err != nil {
					t.Fatalf("%s of %d: %v", tt.what, n, err)
				}
				if len(rounds) != tt.want {
					t.Errorf("%s of %d: %d rounds, want %d: %v", tt.what, n, len(rounds), tt.want, edges)
				}
			}
		}
	}
}

// TestRoundsAreFew: no schedule needs fewer rounds than a vertex has edges, and rings, full meshes and random
// graphs take two more at most.
func TestRoundsAreFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	graphs := [][][2]int{completeOf(7), completeOf(8), ringOf(5), ringOf(6)}
	for range 300 {
		graphs = append(graphs, randomOf(rng, 2+rng.IntN(14), rng.Float64()))
	}
	for _, edges := range graphs {
		n := 16
		edges = shuffled(rng, n, edges)
		rounds := packPaths(n, edges)
		if err := checkRounds(edges, rounds); err != nil {
			t.Fatalf("%v: %v", edges, err)
		}
		degree := make([]int, n)
		for _, e := range edges {
			degree[e[0]]++
			degree[e[1]]++
		}
		if most := slices.Max(degree); len(edges) > 0 && (len(rounds) > most+2 || len(rounds) < most) {
			t.Errorf("%v: %d rounds, want %d to %d", edges, len(rounds), most, most+2)
		}
	}
}

func TestPathsHoldEachEdgeOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 300 {
		n := 2 + rng.IntN(14)
		edges := randomOf(rng, n, rng.Float64())
		if err := checkRounds(edges, packPaths(n, edges)); err != nil {
			t.Fatalf("%v: %v", edges, err)
		}
	}
}
