package topology

import "math"

// sameLength is the share by which two paths of one length may differ: their sums round by
// 1e-16 for each link, and latencies in files have nine digits or more. 3e-10 to 3e-9 pass the tests.
const sameLength = 1e-9

// A pathTree holds the shortest paths from one vertex, as a tree.
type pathTree struct {
	distance []float64
	order    []int     // vertices reached, each after those on its path
	arc      []int32   // arc by which each vertex is reached, -1 for the source and what is not
	excess   []float64 // by how much the next best path to each vertex is longer
}

// tree builds the tree of shortest paths from src; of equal ways into a vertex the arc of the lowest number counts.
//
// A path differs from the tree's first where it enters one of the tree path's vertices x by
// another arc u->x: that makes it longer by d(u) + w - d(x). The least of
// these over the path is the excess, over all u that are not beyond x itself.
func (f *pathFinder) tree(src int) *pathTree {
	g, lengths := f.g, f.lengths
	n := g.vertices
	t := &pathTree{distance: make([]float64, n), arc: make([]int32, n), excess: make([]float64, n)}
	t.order = f.from(src, t.distance)
	place := make([]int, n) // in order
	for v := range n {
		t.arc[v] = -1
		t.excess[v] = math.Inf(1)
		place[v] = n
	}
	for k, v := range t.order {
		place[v] = k
	}
	var children [][]int
	if !f.forest {
		children = make([][]int, n)
	}
	for _, v := range t.order[1:] {
		least := math.Inf(1)
		for _, i := range g.in[g.inStart[v]:g.inStart[v+1]] {
			// Only a vertex reached before v can be its parent, or zero
			// lengths would make circles.
			a := g.arcs[i]
			if d := t.distance[a.From] + lengths[i]; d < least && place[a.From] < place[v] {
				least = d
				t.arc[v] = int32(i)
			}
		}
		if !f.forest {
			p := g.arcs[t.arc[v]].From
			children[p] = append(children[p], v)
		}
	}
	if f.forest {
		return t
	}
	// Numbers of a depth-first walk: what is beyond v lies in [enter, leave).
	enter, leave := make([]int, n), make([]int, n)
	clock := 0
	type step struct{ v, next int }
	stack := []step{{src, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == 0 {
			enter[top.v] = clock
			clock++
		}
		if top.next < len(children[top.v]) {
			top.next++
			stack = append(stack, step{children[top.v][top.next-1], 0})
			continue
		}
		if top.next == 0 {
			top.next = 1 // a leaf, entered already
		}
		leave[top.v] = clock
		stack = stack[:len(stack)-1]
	}
	for _, v := range t.order[1:] {
		t.excess[v] = t.excess[g.arcs[t.arc[v]].From]
		for _, i := range g.in[g.inStart[v]:g.inStart[v+1]] {
			u := g.arcs[i].From
			beyond := enter[u] >= enter[v] && enter[u] < leave[v]
			if int32(i) == t.arc[v] || beyond || math.IsInf(t.distance[u], 1) || math.IsNaN(lengths[i]) {
				continue
			}
			t.excess[v] = min(t.excess[v], t.distance[u]+lengths[i]-t.distance[v])
		}
	}
	return t
}
