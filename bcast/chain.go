package bcast

// Chain passes the message from rank to rank. In many segments it comes close
// to the time of a single transfer, as all links are busy at once: the way for
// long messages. With a hierarchy the chain runs depth first, the root's own
// group first, so that it crosses the link of each group once in each
// direction at most; without one the ranks follow the root in ascending order.
type Chain struct{}

var _ treePlanner = Chain{}

// Name returns "chain".
func (Chain) Name() string { return "chain" }

// Ops implements Algorithm. O(ranks log ranks).
func (a Chain) Ops(dst []Op, p Problem, rank int) []Op {
	return a.tree(p).links(rank).ops(dst, p)
}

func (Chain) tree(p Problem) *tree {
	order := rotated(p.Ranks, p.Root)
	if p.Tree != nil {
		order = depthFirst(p.Tree, p.Root)
	}
	return newTree(p.Ranks, ShapeChain.join(nil, order))
}
