package bcast

// Binomial doubles the number of ranks that have the message in every round:
// log2(ranks) rounds, the least where all pairs are alike and a send costs
// about as much as a hop. It looks at no hierarchy.
type Binomial struct{}

var _ treePlanner = Binomial{}

// Name returns "binomial".
func (Binomial) Name() string { return "binomial" }

// Ops implements Algorithm. O(ranks).
func (a Binomial) Ops(dst []Op, p Problem, rank int) []Op {
	return a.tree(p).links(rank).ops(dst, p)
}

func (Binomial) tree(p Problem) *tree {
	return newTree(p.Ranks, ShapeBinomial.join(nil, rotated(p.Ranks, p.Root)))
}
