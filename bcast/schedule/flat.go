package schedule

import "slices"

// Flat sends from the root to each rank in turn. On short messages it wins
// where a further send costs less than a further hop. With a hierarchy the
// farthest ranks are served first, so that the longest latencies start early;
// without one, and among equals, the ranks follow the root in ascending order.
type Flat struct{}

// Name returns "flat".
func (Flat) Name() string { return "flat" }

// Prepare implements Algorithm. O(ranks log ranks).
func (Flat) Prepare(p Problem) Parts {
	others := rotated(p.Ranks, p.Root)[1:]
	if p.Tree != nil {
		groups := p.Tree.Groups()
		distance := make([]int, p.Ranks)
		for _, r := range others {
			distance[r] = groups[p.Tree.Common(p.Root, r)].Level
		}
		slices.SortStableFunc(others, func(a, b int) int { return distance[b] - distance[a] })
	}
	return ShapeFlat.tree(slices.Insert(others, 0, p.Root))
}
