package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
)

// groupsOf makes a hierarchy of one level of racks of the given sizes; hosts beyond them are in none.
func racks(t *testing.T, hosts int, sizes ...int) *topology.Hierarchy {
	t.Helper()
	var groups []topology.Group
	first := 0
	for _, size := range sizes {
		g := topology.Group{Latency: nan, Confidence: nan}
		for i := range size {
			g.Hosts = append(g.Hosts, first+i)
		}
		first += size
		groups = append(groups, g)
	}
	h, err := topology.NewHierarchy(hosts, []topology.Level{{Latency: nan, Confidence: nan}}, groups, nan)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestRootClassesOfRacks(t *testing.T) {
	for _, c := range []struct {
		name string
		h    *topology.Hierarchy
		want []int
	}{
		{"nothing is known", nil, nil},
		{"equal racks", racks(t, 6, 3, 3), nil},
		{"uneven racks", racks(t, 9, 2, 3, 4), []int{0, 0, 1, 1, 1, 2, 2, 2, 2}},
		{"two alike and one not", racks(t, 8, 2, 4, 2), []int{0, 0, 1, 1, 1, 1, 0, 0}},
		{"hosts without a rack", racks(t, 5, 2, 2), []int{0, 0, 0, 0, 1}},
		{"too many kinds", racks(t, 20, 2, 3, 4, 5, 6), nil},
	} {
		if got := RootClasses(c.h); !slices.Equal(got, c.want) {
			t.Errorf("%s: RootClasses = %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRootClassesPassOverTheFinest: six kinds of racks in two pods of different
// sizes are the two pods.
func TestRootClassesPassOverTheFinest(t *testing.T) {
	var groups []topology.Group
	add := func(level, from, to int) {
		g := topology.Group{Level: level, Latency: nan, Confidence: nan}
		for x := from; x < to; x++ {
			g.Hosts = append(g.Hosts, x)
		}
		groups = append(groups, g)
	}
	add(1, 0, 9) // racks of 2, 3, 4
	add(0, 0, 2)
	add(0, 2, 5)
	add(0, 5, 9)
	add(1, 9, 27) // racks of 5, 6, 7
	add(0, 9, 14)
	add(0, 14, 20)
	add(0, 20, 27)
	h, err := topology.NewHierarchy(27, make([]topology.Level, 2), groups, nan)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int, 27)
	for i := 9; i < 27; i++ {
		want[i] = 1
	}
	if got := RootClasses(h); !slices.Equal(got, want) {
		t.Errorf("RootClasses = %v, want %v", got, want)
	}
}

// TestRootClassesAreSymmetries: two ranks are of one class exactly if some
// renumbering of the hosts takes one to the other and each group to a group of its level: tried out.
func TestRootClassesAreSymmetries(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	compared := 0
	for range 150 {
		hosts := 2 + rng.IntN(5)
		h := randomHierarchy(t, rng, hosts)
		alike := symmetric(h)
		classes := RootClasses(h)
		kinds := make(map[string]bool)
		for _, a := range alike {
			kinds[fmt.Sprint(a)] = true
		}
		if len(kinds) > maxRootClasses {
			continue
		}
		compared++
		for a := range hosts {
			for b := range hosts {
				if got := classes == nil || classes[a] == classes[b]; got != alike[a][b] {
					t.Fatalf("groups %v: ranks %d and %d are of one class: %v, symmetric: %v", h.Groups(), a, b, got, alike[a][b])
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d hierarchies were compared, want 100", compared)
	}
}

// randomHierarchy cuts ranges of hosts, renumbered at random, into smaller ones.
func randomHierarchy(t *testing.T, rng *rand.Rand, hosts int) *topology.Hierarchy {
	t.Helper()
	number := rng.Perm(hosts)
	var groups []topology.Group
	var cut func(from, to, level int)
	cut = func(from, to, level int) {
		for at := from; at < to && level >= 0; {
			end := min(to, at+1+rng.IntN(4))
			if end-at >= 2 && end-at < hosts && rng.IntN(4) > 0 {
				g := topology.Group{Level: level, Latency: nan, Confidence: nan}
				g.Hosts = append(g.Hosts, number[at:end]...)
				groups = append(groups, g)
				cut(at, end, level-1)
			}
			at = end
		}
	}
	cut(0, hosts, 1)
	h, err := topology.NewHierarchy(hosts, make([]topology.Level, 2), groups, nan)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// symmetric tries all renumberings.
func symmetric(h *topology.Hierarchy) [][]bool {
	n := h.Hosts()
	have := make(map[string]bool)
	for _, g := range h.Groups() {
		have[fmt.Sprint(g.Level, g.Hosts)] = true
	}
	alike := make([][]bool, n)
	for i := range alike {
		alike[i] = make([]bool, n)
	}
	var permute func(p []int, k int)
	permute = func(p []int, k int) {
		if k < n {
			for i := k; i < n; i++ {
				p[k], p[i] = p[i], p[k]
				permute(p, k+1)
				p[k], p[i] = p[i], p[k]
			}
			return
		}
		for _, g := range h.Groups() {
			moved := make([]int, 0, len(g.Hosts))
			for _, x := range g.Hosts {
				moved = append(moved, p[x])
			}
			slices.Sort(moved)
			if !have[fmt.Sprint(g.Level, moved)] {
				return
			}
		}
		for a, b := range p {
			alike[a][b] = true
		}
	}
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	permute(p, 0)
	return alike
}
