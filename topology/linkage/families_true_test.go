package linkage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"gonum.org/v1/gonum/mat"
)

// tested are instances of every family that are small enough for tests.
func tested() []int {
	if tooltest.Long() {
		return []int{0, 3, 7, 12}
	}
	return []int{3, 12}
}

func TestMachinesAreWhatTheySay(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range families() {
		if seen[f.Name] {
			t.Errorf("two families are named %s", f.Name)
		}
		seen[f.Name] = true
		demanded := 0
		for _, instance := range tested() {
			m := f.machine(instance)
			name := fmt.Sprintf("%s %d", f.Name, instance)
			if m.Hosts < 8 || m.Hosts > 1024 || len(m.Repetitions) < 1 {
				t.Errorf("%s: %d hosts, %d repetitions", name, m.Hosts, len(m.Repetitions))
			}
			for _, r := range m.Repetitions {
				if rows, columns := r.Dims(); rows != m.Hosts || columns != m.Hosts {
					t.Errorf("%s: %d x %d measurements of %d hosts", name, rows, columns, m.Hosts)
				}
				for i := range m.Hosts {
					for j := range m.Hosts {
						v := r.At(i, j)
						if i != j && !(v >= 0 && v < 1) && !(f.Class == "H" && math.IsNaN(v)) {
							t.Fatalf("%s: measurement %g s of %d and %d", name, v, i, j)
						}
					}
				}
			}
			for _, g := range m.Groups {
				if g.demanded() {
					demanded++
				}
				if !slices.IsSorted(g.Hosts) || len(g.Hosts) < 2 || len(g.Hosts) >= m.Hosts || g.Hosts[0] < 0 || g.Hosts[len(g.Hosts)-1] >= m.Hosts {
					t.Errorf("%s: group %v of %d hosts", name, g.Hosts, m.Hosts)
				}
			}
			nest(t, name, m)
			again := f.machine(instance)
			for k, r := range m.Repetitions {
				if !same(r, again.Repetitions[k]) {
					t.Errorf("%s: differs from itself", name)
				}
			}
		}
		if !f.Grouped && demanded > 0 {
			t.Errorf("%s: %d groups are demanded of machines without", f.Name, demanded)
		}
		if f.Grouped && demanded == 0 {
			t.Errorf("%s: no group is demanded", f.Name)
		}
	}
}

// nest fails where groups overlap without one holding the other, or are equal. Groups
// come large ones first.
func nest(t *testing.T, name string, m *familyMachine) {
	t.Helper()
	inside := make([]int, m.Hosts) // smallest group so far
	for k, g := range m.Groups {
		around := inside[g.Hosts[0]]
		for _, h := range g.Hosts {
			if inside[h] != around {
				t.Errorf("%s: group %v overlaps another", name, g.Hosts)
				break
			}
		}
		if around > 0 && len(m.Groups[around-1].Hosts) == len(g.Hosts) {
			t.Errorf("%s: group %v is there twice", name, g.Hosts)
		}
		for _, h := range g.Hosts {
			inside[h] = k + 1
		}
	}
}

func same(a, b mat.Matrix) bool {
	n, _ := a.Dims()
	for i := range n {
		for j := range n {
			if math.Float64bits(a.At(i, j)) != math.Float64bits(b.At(i, j)) {
				return false
			}
		}
	}
	return true
}

func testDraw() *draw { return &draw{rand.New(rand.NewPCG(1, 2)), 0} }

// A set of hosts that exact latencies set off from all others - each inside nearer than
// any outside - is a group of the layout: nobody can be blamed for finding it. Such sets are among
// those that single linkage joins (Apresjan 1966).
func TestLatenciesSetOffGroupsOnly(t *testing.T) {
	const clearly = 1.02
	for _, f := range families() {
		for _, instance := range tested() {
			l, _ := f.make(f.draw(instance))
			if l.spatial {
				continue
			}
			known := map[string]bool{}
			for _, g := range l.distinct() {
				known[fmt.Sprint(g)] = true
			}
			for _, set := range singleLinkageSets(l) {
				if inside, outside := l.margins(set); outside > clearly*inside && !known[fmt.Sprint(set)] {
					t.Errorf("%s %d: hosts %v are set off by %.3f and no group", f.Name, instance, set, outside/inside)
				}
			}
		}
	}
}

// singleLinkage returns all sets of two hosts or more, but not of all, that
// are connected by the latencies up to some threshold.
func singleLinkageSets(l *layout) [][]int {
	type edge struct {
		i, j int
		s    float64
	}
	var edges []edge
	for i := range l.n {
		for j := range i {
			edges = append(edges, edge{i, j, l.at(i, j)})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a.s < b.s:
			return -1
		case a.s > b.s:
			return 1
		}
		return 0
	})
	set := make([][]int, l.n)
	for h := range set {
		set[h] = []int{h}
	}
	of := span(0, l.n)
	var out [][]int
	changed := map[int]bool{}
	for k, e := range edges {
		if a, b := of[e.i], of[e.j]; a != b {
			for _, h := range set[b] {
				of[h] = a
			}
			set[a] = append(set[a], set[b]...)
			changed[a] = true
		}
		if k+1 < len(edges) && edges[k+1].s <= e.s*(1+1e-9) {
			continue // ties are taken in together
		}
		for a := range changed {
			if of[set[a][0]] == a && len(set[a]) < l.n {
				out = append(out, slices.Sorted(slices.Values(set[a])))
			}
		}
		clear(changed)
	}
	return out
}
