package schedule

// Chain passes the message from rank to rank; in segments it is the pipeline of
// the literature. In many of them it comes close to the time of a single
// transfer, as all links are busy at once: the way for long messages. With a hierarchy the chain runs depth first, the root's own
// group first, so that it crosses the link of each group once in each
// direction at most; without one the ranks follow the root in ascending order.
type Chain struct{}

// Name returns "chain".
func (Chain) Name() string { return "chain" }

// Prepare implements Algorithm. O(ranks log ranks).
func (Chain) Prepare(p Problem) Parts {
	return ShapeChain.tree(Line(p))
}
