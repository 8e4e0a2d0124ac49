package schedule

// Binary is a balanced tree in which each rank serves two: a pipeline that is
// filled in the logarithm of the ranks, at two sends for each piece. Subtrees are
// consecutive parts of the line that Chain follows, so that with a hierarchy
// most of them lie within a group.
type Binary struct{}

var _ Planner = Binary{}

// Name returns "binary".
func (Binary) Name() string { return "binary" }

// Ops implements Algorithm. O(ranks log ranks).
func (a Binary) Ops(dst []Op, p Problem, rank int) []Op {
	return a.Plan(p).Links(rank).Ops(dst, p)
}

// Plan implements Planner. O(ranks log ranks).
func (Binary) Plan(p Problem) *Tree {
	return NewTree(p.Ranks, halved(make([]Edge, 0, p.Ranks-1), Line(p)))
}

// halved appends the edges of the balanced binary tree over the ranks, whose root
// is the first of them; the first half of the others is one subtree.
func halved(edges []Edge, ranks []int) []Edge {
	others := ranks[1:]
	middle := (len(others) + 1) / 2
	for _, part := range [][]int{others[:middle], others[middle:]} {
		if len(part) > 0 {
			edges = append(edges, Edge{ranks[0], part[0]})
			edges = halved(edges, part)
		}
	}
	return edges
}
