package schedule

// Binomial doubles the number of ranks that have the message in every round:
// log2(ranks) rounds, the least where all pairs are alike and a send costs
// about as much as a hop. It looks at no hierarchy.
type Binomial struct{}

var _ Planner = Binomial{}

// Name returns "binomial".
func (Binomial) Name() string { return "binomial" }

// Ops implements Algorithm. O(ranks).
func (a Binomial) Ops(dst []Op, p Problem, rank int) []Op {
	return a.Plan(p).Links(rank).Ops(dst, p)
}

// Plan implements Planner. O(ranks).
func (Binomial) Plan(p Problem) *Tree {
	return NewTree(p.Ranks, ShapeBinomial.join(nil, rotated(p.Ranks, p.Root)))
}
