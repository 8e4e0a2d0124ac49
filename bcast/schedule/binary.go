package schedule

// Binary is a balanced tree in which each rank serves two: a pipeline that is
// filled in the logarithm of the ranks, at two sends for each piece. Subtrees are
// consecutive parts of the line that Chain follows, so that with a hierarchy
// most of them lie within a group.
type Binary struct{}

// Name returns "binary".
func (Binary) Name() string { return "binary" }

// Prepare implements Algorithm. O(ranks log ranks).
func (Binary) Prepare(p Problem) Parts {
	return ShapeBinary.tree(Line(p))
}
