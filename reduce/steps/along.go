package steps

import "github.com/topocast/topocast/bcast/schedule"

// Along reduces along the tree of a broadcast. Its Prepare panics for a broadcast that follows no tree: see IsTree.
type Along struct{ Broadcast schedule.Algorithm }

// Name is that of the broadcast.
func (a Along) Name() string { return a.Broadcast.Name() }

// String is the text of the broadcast, with its settings.
func (a Along) String() string { return schedule.Text(a.Broadcast) }

// IsTree tells whether every rank has one parent in a broadcast, so that reductions can follow it.
func IsTree(a schedule.Algorithm, p Problem) bool {
	_, is := a.Prepare(p.broadcast()).(*schedule.Tree)
	return is
}

// broadcast is the problem backwards. The root of all ranks is rank 0.
func (p Problem) broadcast() schedule.Problem {
	return schedule.Problem{Ranks: p.Ranks, Root: max(0, p.Root), Bytes: p.Bytes, Tree: p.Tree, Costs: p.Costs}
}

// Prepare implements Algorithm. O(ranks), besides what the broadcast takes.
func (a Along) Prepare(p Problem) Parts {
	tree := a.Broadcast.Prepare(p.broadcast()).(*schedule.Tree)
	depth := depths(tree, p)
	return func(rank int) Part {
		links := tree.Links(rank)
		// A segment comes back when it has gone up and down that far. Until then the rank goes on with later ones.
		later := 2 * depth[rank]
		return func(dst []Step, values, segment int) []Step {
			s := pieces{values, segment}
			count := s.count()
			later := min(later, count)
			for k := range count + later {
				if k < count {
					dst = up(dst, links, s.piece(k))
				}
				if p.wantsAll() && k >= later {
					dst = down(dst, links, s.piece(k-later))
				}
			}
			return dst
		}
	}
}

// depths are how far the ranks are from the root of a tree.
func depths(tree *schedule.Tree, p Problem) []int {
	depth := make([]int, p.Ranks)
	ranks := []int{p.broadcast().Root} // parents before their children
	for i := 0; i < len(ranks); i++ {
		for _, child := range tree.Links(ranks[i]).Children {
			depth[child] = depth[ranks[i]] + 1
			ranks = append(ranks, child)
		}
	}
	return depth
}

// up appends what a rank does with a piece on its way to the root. The child that is served last by a broadcast has the
// fewest ranks below it, and is the first to have its sum.
func up(dst []Step, links schedule.Links, p schedule.Span) []Step {
	for i := len(links.Children) - 1; i >= 0; i-- {
		dst = add(dst, Combine, links.Children[i], p.Lo, p.Hi)
	}
	if links.Parent >= 0 {
		dst = add(dst, Send, links.Parent, p.Lo, p.Hi)
	}
	return dst
}

// down appends what a rank does with a piece of the result.
func down(dst []Step, links schedule.Links, p schedule.Span) []Step {
	if links.Parent >= 0 {
		dst = add(dst, Replace, links.Parent, p.Lo, p.Hi)
	}
	for _, c := range links.Children {
		dst = add(dst, Send, c, p.Lo, p.Hi)
	}
	return dst
}

// pieces are the segments of a vector.
type pieces struct{ values, segment int }

// size is the number of values of all pieces but the last, at least 1.
func (s pieces) size() int {
	if s.segment < 1 || s.segment > s.values {
		return max(1, s.values)
	}
	return s.segment
}

func (s pieces) count() int { return (s.values + s.size() - 1) / s.size() }

func (s pieces) piece(k int) schedule.Span {
	return schedule.Span{Lo: k * s.size(), Hi: min((k+1)*s.size(), s.values)}
}
