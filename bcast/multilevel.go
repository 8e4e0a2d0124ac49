package bcast

import (
	"fmt"
	"math/bits"
)

// MultiLevel follows the hierarchy: in each group a leader receives the
// message and hands it on to the leaders of the group's members, outermost
// groups first. The root leads all groups that it is in; elsewhere the lowest
// rank leads. Each group is entered once, by one message per segment. It
// generalises the two levels of MagPIe (Kielmann et al. 1999) as Reinfjell
// 2023, section 6.4.2, uses it, to any depth and with segments. Without a
// hierarchy all ranks are one group.
type MultiLevel struct {
	// Shapes are those among the members of a group, by its level: first the
	// group of all ranks, then the coarsest level, and so on; the last one
	// serves all finer levels. Empty: ShapeBinomial everywhere.
	Shapes []Shape
}

// A Shape is the form of the tree among the members of one group.
type Shape uint8

// The shapes.
const (
	ShapeBinomial Shape = iota // doubling
	ShapeFlat                  // the leader serves all, by lowest rank
	ShapeChain                 // each serves the next, by lowest rank
)

func (s Shape) String() string {
	switch s {
	case ShapeBinomial:
		return "binomial"
	case ShapeFlat:
		return "flat"
	case ShapeChain:
		return "chain"
	}
	return fmt.Sprintf("shape %d", uint8(s))
}

var _ treePlanner = MultiLevel{}

// Name returns "multilevel".
func (MultiLevel) Name() string { return "multilevel" }

// String names the shapes too.
func (a MultiLevel) String() string {
	if len(a.Shapes) == 0 {
		return "multilevel[binomial]"
	}
	return fmt.Sprintf("multilevel%v", a.Shapes)
}

// Ops implements Algorithm. O(ranks log ranks).
func (a MultiLevel) Ops(dst []Op, p Problem, rank int) []Op {
	return a.tree(p).links(rank).ops(dst, p)
}

func (a MultiLevel) tree(p Problem) *tree {
	if p.Tree == nil {
		return newTree(p.Ranks, a.shape(0).join(nil, rotated(p.Ranks, p.Root)))
	}
	groups := p.Tree.Groups()
	leader := make([]int, len(groups))
	for g := range groups {
		leader[g] = groups[g].Hosts[0]
	}
	for g := p.Tree.Smallest(p.Root); g >= 0; g = groups[g].Parent {
		leader[g] = p.Root
	}
	// Parents come before children in Groups, so a rank that leads nested
	// groups serves the outer one first.
	edges := make([]edge, 0, p.Ranks-1)
	var led []int
	for g := range groups {
		led = append(led[:0], leader[g])
		for _, m := range members(p.Tree, g) {
			x := m.host
			if m.group >= 0 {
				x = leader[m.group]
			}
			if x != leader[g] {
				led = append(led, x)
			}
		}
		depth := len(p.Tree.Levels()) - groups[g].Level
		edges = a.shape(depth).join(edges, led)
	}
	return newTree(p.Ranks, edges)
}

// shape is the one at the given depth, 0 for the group of all ranks.
func (a MultiLevel) shape(depth int) Shape {
	if len(a.Shapes) == 0 {
		return ShapeBinomial
	}
	return a.Shapes[min(depth, len(a.Shapes)-1)]
}

// join appends the edges of a tree of the given shape over the ranks, the
// first of which is its root.
func (s Shape) join(edges []edge, ranks []int) []edge {
	switch s {
	case ShapeFlat:
		for _, r := range ranks[1:] {
			edges = append(edges, edge{ranks[0], r})
		}
	case ShapeChain:
		for i := range ranks[1:] {
			edges = append(edges, edge{ranks[i], ranks[i+1]})
		}
	default: // position i is served by i without its lowest bit, largest subtree first
		for step := 1 << bits.Len(uint(len(ranks)-1)) >> 1; step > 0; step >>= 1 {
			for i := 0; i+step < len(ranks); i += 2 * step {
				edges = append(edges, edge{ranks[i], ranks[i+step]})
			}
		}
	}
	return edges
}
