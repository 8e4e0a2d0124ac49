package truth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
)

// TestMatchingAgainstAllAssignments compares with the best of all permutations.
func TestMatchingAgainstAllAssignments(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n, ka, kb := 1+rng.IntN(20), 1+rng.IntN(5), 1+rng.IntN(5)
		a, b := make([]int, n), make([]int, n)
		for i := range a {
			a[i], b[i] = rng.IntN(ka+1)-1, rng.IntN(kb)
		}
		found, truth := cluster.Relabel(a), cluster.Relabel(b)
		k := max(found.Clusters(), truth.Clusters())
		best := 0
		permute(k, func(p []int) {
			hits := 0
			for i, f := range found {
				if f != cluster.Noise && p[f] == truth[i] {
					hits++
				}
			}
			best = max(best, hits)
		})
		if got, want := Matching(found, truth), float64(best)/float64(n); math.Abs(got-want) > 1e-12 {
			t.Fatalf("Matching(%v, %v) = %g, want %g", found, truth, got, want)
		}
	}
}

// permute calls f with every permutation of 0..k-1.
func permute(k int, f func([]int)) {
	p := make([]int, k)
	for i := range p {
		p[i] = i
	}
	var rec func(int)
	rec = func(i int) {
		if i == k {
			f(p)
			return
		}
		for j := i; j < k; j++ {
			p[i], p[j] = p[j], p[i]
			rec(i + 1)
			p[i], p[j] = p[j], p[i]
		}
	}
	rec(0)
}

func TestSetF1(t *testing.T) {
	truth := [][]int{{0, 1}, {2, 3}, {0, 1, 2, 3}}
	for _, c := range []struct {
		found [][]int
		want  float64
	}{
		{truth, 1},
		{nil, 0},
		{[][]int{{0, 1}, {0, 1}}, 0.5}, // 1 of 1 found, 1 of 3 true: 2/(1+3)
		{[][]int{{0, 1}, {2, 3}, {0, 2}}, 2 * 2.0 / 6.0}, // 2 of 3 both ways
	} {
		if got := SetF1(c.found, truth); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("SetF1(%v) = %g, want %g", c.found, got, c.want)
		}
	}
}

// nestedGroups are two nodes of two sockets of two, and host 8 alone.
func nestedGroups(t *testing.T) *topology.Hierarchy {
	t.Helper()
	nan := math.NaN()
	h, err := topology.NewHierarchy(9, []topology.Level{{Latency: 1}, {Latency: 2}}, []topology.Group{
		{Hosts: []int{0, 1}, Level: 0, Confidence: nan},
		{Hosts: []int{2, 3}, Level: 0, Confidence: nan},
		{Hosts: []int{4, 5}, Level: 0, Confidence: nan},
		{Hosts: []int{0, 1, 2, 3}, Level: 1, Latency: 2, Confidence: nan},
		{Hosts: []int{4, 5, 6, 7}, Level: 1, Latency: 2, Confidence: nan},
	}, 9)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestCuts(t *testing.T) {
	want := []cluster.Labels{
		{0, 0, 1, 1, 2, 2, 3, 4, 5},
		{0, 0, 0, 0, 1, 1, 1, 1, 2},
		{0, 0, 0, 0, 0, 0, 0, 0, 0},
	}
	if got := Cuts(nestedGroups(t)); !slices.EqualFunc(got, want, slices.Equal[cluster.Labels]) {
		t.Errorf("Cuts = %v, want %v", got, want)
	}
}

// The share of ranks that are mapped to the correct node (Reinfjell 2023,
// equation 3.8). Rank 3 is not; of four sockets two can be matched to the two
// nodes.
func ExampleMatching() {
	nodes := cluster.Labels{0, 0, 0, 0, 1, 1, 1, 1}
	fmt.Println(Matching(cluster.Labels{0, 0, 0, 1, 1, 1, 1, 1}, nodes))
	fmt.Println(Matching(cluster.Labels{0, 0, 1, 1, 2, 2, 3, 3}, nodes))
	// Output:
	// 0.875
	// 0.5
}

// Nested groups count where they are found exactly: all four are true, two of six
// were missed. 2*4 / (4+6) = 0.8.
func ExampleSetF1() {
	found := [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1}, {2, 3}}
	truth := [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}}
	fmt.Println(SetF1(found, truth))
	// Output: 0.8
}

// TestBest: of equal scores the first counts, and there may be none.
func TestBest(t *testing.T) {
	all := []cluster.Labels{{0, 0, 1}, {0, 1, 1}, {0, 1, 2}}
	scores := map[string]float64{"[0 0 1]": 1, "[0 1 1]": 2, "[0 1 2]": 2}
	best, highest := Best(all, func(l cluster.Labels) float64 { return scores[fmt.Sprint(l)] })
	if !slices.Equal(best, all[1]) || highest != 2 {
		t.Errorf("Best = %v with %g, want %v with 2", best, highest, all[1])
	}
	if best, _ := Best(nil, nil); best != nil {
		t.Errorf("the best of nothing is %v", best)
	}
}
