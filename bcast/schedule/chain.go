package schedule

// Chain passes the message from rank to rank; in segments it is the pipeline of
// the literature. In many of them it comes close to the time of a single
// transfer, as all links are busy at once: the way for long messages. With a hierarchy the chain runs depth first, the root's own
// group first, so that it crosses the link of each group once in each
// direction at most; without one the ranks follow the root in ascending order.
type Chain struct{}

var _ Planner = Chain{}

// Name returns "chain".
func (Chain) Name() string { return "chain" }

// Ops implements Algorithm. O(ranks log ranks).
func (a Chain) Ops(dst []Op, p Problem, rank int) []Op {
	return a.Plan(p).Links(rank).Ops(dst, p)
}

// Plan implements Planner. O(ranks log ranks).
func (Chain) Plan(p Problem) *Tree {
	return NewTree(p.Ranks, ShapeChain.join(nil, Line(p)))
}
