package steps

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

// Along reduces along the tree of a broadcast. Its Prepare panics for a broadcast that follows no tree: see IsTree.
//
// Where all ranks want the result it comes back along the tree, segment by segment. Later ones are still on their way to the
// root then.
type Along struct {
	Broadcast schedule.Algorithm

	// Late is how many segments are under way on each link, from the ends to the root and back. Few would not fill links of
	// high latency. 0: 1.
	Late int

	// Spread deals the vector to the leaders of the groups of a level, each the root of a tree for its part. Then no group's link
	// carries more than another's. From 1 for the finest level; 0: one root. Only for results that all ranks want.
	Spread int
}

// Name is that of the broadcast.
func (a Along) Name() string { return a.Broadcast.Name() }

// String is the text of the broadcast with the settings.
func (a Along) String() string {
	text := schedule.Text(a.Broadcast)
	if a.Spread > 0 {
		text += fmt.Sprintf(" spread %d", a.Spread)
	}
	if a.Late > 1 {
		text += fmt.Sprintf(" late %d", a.Late)
	}
	return text
}

// IsTree tells whether every rank has one parent in a broadcast, so that reductions can follow it.
func IsTree(a schedule.Algorithm, p Problem) bool {
	_, is := a.Prepare(p.broadcast(p.Root)).(*schedule.Tree)
	return is
}

// broadcast is the problem backwards, from a root; AllRanks stands for rank 0.
func (p Problem) broadcast(root int) schedule.Problem {
	return schedule.Problem{Ranks: p.Ranks, Root: max(0, root), Bytes: p.Bytes, Tree: p.Tree, Costs: p.Costs}
}

// Roots are the roots among which the vector is dealt.
func (a Along) Roots(p Problem) []int {
	if a.Spread == 0 || !p.wantsAll() {
		return []int{p.Root}
	}
	return leaders(p, a.Spread)
}

// Prepare implements Algorithm. O(ranks * roots), besides what the broadcasts take.
func (a Along) Prepare(p Problem) Parts {
	roots := a.Roots(p)
	trees, depth := make([]*schedule.Tree, len(roots)), make([][]int, len(roots))
	for i, root := range roots {
		trees[i] = a.Broadcast.Prepare(p.broadcast(root)).(*schedule.Tree)
		depth[i] = depths(trees[i], p.Ranks, max(0, root))
	}
	late, most := max(1, a.Late), make([]int, len(roots))
	for i := range most {
		most[i] = slices.Max(depth[i])
	}
	return func(rank int) Part {
		places := make([]place, len(roots))
		for i := range places {
			own := depth[i][rank]
			places[i] = place{links: trees[i].Links(rank), upFrom: late * (most[i] - own), downFrom: late * (most[i] + own)}
		}
		return func(dst []Step, values, segment int) []Step { return along(dst, places, values, segment, p.wantsAll()) }
	}
}

// A place is that of a rank in one tree.
type place struct {
	links            schedule.Links
	upFrom, downFrom int // turns in which the first segment goes up, and comes down

	// Of the vector at hand.
	part  dealt
	count int // of segments
}

// along appends the steps of a rank. Each tree has a part of the values. In each turn one segment of each part goes up, and one comes
// down. Ranks that are one link apart are as many turns apart in all parts. So they agree in the order of their messages.
func along(dst []Step, places []place, values, segment int, back bool) []Step {
	turns := 0
	for i := range places {
		x := &places[i]
		x.part = partOf(i, len(places), values, segment)
		x.count = x.part.count()
		turns = max(turns, x.count+x.downFrom)
	}
	for turn := range turns {
		for i := range places {
			if x := &places[i]; turn >= x.upFrom && turn < x.upFrom+x.count {
				dst = up(dst, x.links, x.part.piece(turn-x.upFrom))
			}
		}
		for i := range places {
			if x := &places[i]; back && turn >= x.downFrom && turn < x.downFrom+x.count {
				dst = down(dst, x.links, x.part.piece(turn-x.downFrom))
			}
		}
	}
	return dst
}

// depths are how far the ranks are from the root of a tree.
func depths(tree *schedule.Tree, ranks, root int) []int {
	depth := make([]int, ranks)
	order := []int{root} // parents before their children
	for i := 0; i < len(order); i++ {
		for _, child := range tree.Links(order[i]).Children {
			depth[child] = depth[order[i]] + 1
			order = append(order, child)
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
		dst = add(dst, SendResult, c, p.Lo, p.Hi)
	}
	return dst
}

// A dealt is the part of a vector that one of several has, in segments.
type dealt struct{ from, to, segment int }

// partOf is one of n parts, as equal as can be; the first ones have a value more.
func partOf(i, n, values, segment int) dealt {
	least, more := values/n, values%n
	return dealt{i*least + min(i, more), (i+1)*least + min(i+1, more), segment}
}

// size is the number of values of all segments but the last, at least 1.
func (d dealt) size() int {
	if values := d.to - d.from; d.segment < 1 || d.segment > values {
		return max(1, values)
	}
	return d.segment
}

func (d dealt) count() int { return (d.to - d.from + d.size() - 1) / d.size() }

func (d dealt) piece(k int) schedule.Span {
	lo := d.from + k*d.size()
	return schedule.Span{Lo: lo, Hi: min(lo+d.size(), d.to)}
}
