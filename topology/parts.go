package topology

import "slices"

// Parts numbers the connected parts of the graph without the given vertices, directions aside: each vertex
// has the number of its part, those left out -1. Parts are numbered by their lowest vertex. O(vertices + arcs).
func (g *Graph) Parts(without ...int) []int {
	part, from := slices.Repeat([]int{-1}, g.vertices), g.unreached()
	for _, v := range without {
		from[v] = v
	}
	next := 0
	for v := range part {
		if from[v] < 0 {
			for _, x := range g.reach(v, from) {
				part[x] = next
			}
			next++
		}
	}
	return part
}

// unreached says of all vertices that they were not reached from any, as reach wants it.
func (g *Graph) unreached() []int { return slices.Repeat([]int{-1}, g.vertices) }

// reach returns the vertices that arcs in either direction join to root, breadth first, and writes from which vertex it
// reached each; root is reached from itself. Vertices that were reached before are left out. O(arcs of the vertices).
func (g *Graph) reach(root int, from []int) []int {
	from[root] = root
	order := []int{root}
	for k := 0; k < len(order); k++ {
		v := order[k]
		visit := func(x int) {
			if from[x] < 0 {
				from[x] = v
				order = append(order, x)
			}
		}
		for _, a := range g.Out(v) {
			visit(a.To)
		}
		for _, i := range g.In(v) {
			visit(g.arcs[i].From)
		}
	}
	return order
}

// IsForest tells whether no two vertices are joined by two paths, directions aside.
// O(vertices + m log degree) for m arcs.
func (g *Graph) IsForest() bool {
	links, parts := 0, 0
	for _, a := range g.arcs {
		if a.From < a.To || g.ArcIndex(a.To, a.From) < 0 {
			links++
		}
	}
	for _, p := range g.Parts() {
		parts = max(parts, p+1)
	}
	return links == g.vertices-parts
}
