package schedule

// Binomial doubles the number of ranks that have the message in every round:
// log2(ranks) rounds, the least where all pairs are alike and a send costs
// about as much as a hop. It looks at no hierarchy.
type Binomial struct{}

// Name returns "binomial".
func (Binomial) Name() string { return "binomial" }

// Prepare implements Algorithm. O(ranks).
func (Binomial) Prepare(p Problem) Parts {
	return ShapeBinomial.tree(rotated(p.Ranks, p.Root))
}
