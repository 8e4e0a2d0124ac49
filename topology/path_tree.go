package topology

import "math"

// A PathTree holds the shortest paths from one vertex, as a tree. Its slices have an entry per vertex
// but for Order.
type PathTree struct {
	Distance []float64 // length of the path; +Inf where there is none
	Order    []int     // vertices reached, the source first, each after those on its path
	Arc      []int32   // number of the arc by which the path enters; -1 for the source and what is not reached
	Excess   []float64 // by how much the next best path is longer; +Inf where there is none
}

// sameRoute is the share by which measured paths of one true length may differ: their latencies are off by some percent.
const sameRoute = 0.05

// Only tells whether the path to v is the only shortest one, whatever measured latencies are off by: all others are
// longer by 5 % at least.
func (t *PathTree) Only(v int) bool { return t.Excess[v] > sameRoute*t.Distance[v] }

// Tree builds the tree of shortest paths from src; of equal ways into a vertex the arc of the lowest number counts.
// O(m log m) for m arcs, in a forest O(m).
//
// A path differs from the tree's first where it enters one of the tree path's vertices x by
// another arc u->x: that makes it longer by d(u) + w - d(x). The least of
// these over the path is the excess, over all u that are not beyond x itself. Where arcs have
// length 0 such a u can hide a path that is as short.
func (p *Paths) Tree(src int) *PathTree {
	g, lengths := p.g, p.lengths
	n := g.vertices
	t := &PathTree{Distance: make([]float64, n), Arc: make([]int32, n), Excess: make([]float64, n)}
	t.Order = p.From(src, t.Distance)
	place := make([]int, n) // in order
	for v := range n {
		t.Arc[v] = -1
		t.Excess[v] = math.Inf(1)
		place[v] = n
	}
	for k, v := range t.Order {
		place[v] = k
	}
	var children [][]int
	if !p.forest {
		children = make([][]int, n)
	}
	for _, v := range t.Order[1:] {
		least := math.Inf(1)
		for _, i := range g.In(v) {
			// Only a vertex reached before v can be its parent, or zero
			// lengths would make circles.
			a := g.arcs[i]
			if d := t.Distance[a.From] + lengths[i]; lengths[i] >= 0 && d < least && place[a.From] < place[v] {
				least = d
				t.Arc[v] = int32(i)
			}
		}
		if !p.forest {
			parent := g.arcs[t.Arc[v]].From
			children[parent] = append(children[parent], v)
		}
	}
	if p.forest {
		return t
	}
	// Numbers of a depth-first walk: what is beyond v lies in [enter, leave).
	enter, leave := make([]int, n), make([]int, n)
	clock := 0
	var walk func(v int)
	walk = func(v int) {
		enter[v] = clock
		clock++
		for _, child := range children[v] {
			walk(child)
		}
		leave[v] = clock
	}
	walk(src)
	for _, v := range t.Order[1:] {
		t.Excess[v] = t.Excess[g.arcs[t.Arc[v]].From]
		for _, i := range g.In(v) {
			u := g.arcs[i].From
			beyond := enter[u] >= enter[v] && enter[u] < leave[v]
			if int32(i) == t.Arc[v] || beyond || math.IsInf(t.Distance[u], 1) || !(lengths[i] >= 0) {
				continue
			}
			t.Excess[v] = min(t.Excess[v], t.Distance[u]+lengths[i]-t.Distance[v])
		}
	}
	return t
}
