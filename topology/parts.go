package topology

// Parts numbers the connected parts of the graph without the given vertices, directions aside: each vertex
// has the number of its part, those left out -1. Parts are numbered by their lowest vertex. O(vertices + arcs).
func (g *Graph) Parts(without ...int) []int {
	const unseen = -2
	part := make([]int, g.vertices)
	for v := range part {
		part[v] = unseen
	}
	for _, v := range without {
		part[v] = -1
	}
	next := 0
	var queue []int
	for v := range part {
		if part[v] != unseen {
			continue
		}
		part[v] = next
		queue = append(queue[:0], v)
		visit := func(x int) {
			if part[x] == unseen {
				part[x] = next
				queue = append(queue, x)
			}
		}
		for k := 0; k < len(queue); k++ {
			for _, a := range g.Out(queue[k]) {
				visit(a.To)
			}
			for _, i := range g.In(queue[k]) {
				visit(g.arcs[i].From)
			}
		}
		next++
	}
	return part
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
