package schedule

import "slices"

// Flat sends from the root to each rank in turn. On short messages it wins
// where a further send costs less than a further hop. With a hierarchy the
// farthest ranks are served first, so that the longest journeys start early;
// without one, and among equals, the ranks follow the root in ascending order.
type Flat struct{}

var _ Planner = Flat{}

// Name returns "flat".
func (Flat) Name() string { return "flat" }

// Ops implements Algorithm. O(ranks log ranks).
func (a Flat) Ops(dst []Op, p Problem, rank int) []Op {
	return a.Plan(p).Links(rank).Ops(dst, p)
}

// Plan implements Planner. O(ranks log ranks).
func (Flat) Plan(p Problem) *Tree {
	others := rotated(p.Ranks, p.Root)[1:]
	if p.Tree != nil {
		groups := p.Tree.Groups()
		distance := make([]int, p.Ranks)
		for _, r := range others {
			distance[r] = groups[p.Tree.Common(p.Root, r)].Level
		}
		slices.SortStableFunc(others, func(a, b int) int { return distance[b] - distance[a] })
	}
	return NewTree(p.Ranks, ShapeFlat.join(nil, slices.Insert(others, 0, p.Root)))
}
