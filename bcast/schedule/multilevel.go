package schedule

import (
	"fmt"
	"slices"
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

var _ Factored = MultiLevel{}

// Name returns "multilevel".
func (MultiLevel) Name() string { return "multilevel" }

// String names the shapes too.
func (a MultiLevel) String() string {
	if len(a.Shapes) == 0 {
		return "multilevel[binomial]"
	}
	return fmt.Sprintf("multilevel%v", a.Shapes)
}

// Prepare implements Algorithm. O(ranks log ranks).
func (a MultiLevel) Prepare(p Problem) Parts {
	if p.Tree == nil {
		return a.shape(0).tree(rotated(p.Ranks, p.Root))
	}
	groups := p.Tree.Groups()
	leader := func(g int) int {
		if holds(groups[g].Hosts, p.Root) {
			return p.Root
		}
		return groups[g].Hosts[0]
	}
	shape := func(g int) Shape { return a.shape(len(p.Tree.Levels()) - groups[g].Level) }
	// leaders appends the leaders of the members of a group, the given one first. A member that is passed over has those of
	// its own members.
	var leaders func(led []int, g, first int) []int
	leaders = func(led []int, g, first int) []int {
		for _, m := range members(p.Tree, g, first) {
			switch {
			case m.group < 0:
				led = append(led, m.host)
			case shape(m.group) == ShapeNone:
				led = leaders(led, m.group, first)
			default:
				led = append(led, leader(m.group))
			}
		}
		return led
	}
	// Parents come before children in Groups, so a rank that leads nested
	// groups serves the outer one first.
	edges := make([]Edge, 0, p.Ranks-1)
	var led []int
	for g := range groups {
		if g == 0 || shape(g) != ShapeNone {
			led = leaders(led[:0], g, leader(g))
			edges = shape(g).join(edges, led)
		}
	}
	return NewTree(p.Ranks, edges)
}

// shapedLevels is the number of levels, from the coarsest, whose shapes are chosen; the finer ones
// take the least of the time, and few machines have more.
const shapedLevels = 5

// Variants implements Varied: all combinations of shapes on the levels of the tree; from
// the level after the fifth on inwards they are those of the last. There are
// none without groups, where the other algorithms do the same.
func (a MultiLevel) Variants(p Problem) (all []Algorithm) {
	factors := a.Factors(p)
	if factors == nil {
		return nil
	}
	shapes := make([]Shape, len(factors))
	for {
		all = append(all, MultiLevel{slices.Clone(shapes)})
		k := len(shapes) - 1
		for ; k >= 0 && int(shapes[k]) == factors[k]-1; k-- {
			shapes[k] = 0
		}
		if k < 0 {
			return all
		}
		shapes[k]++
	}
}

// Factors implements Factored: the shapes of each level, of which the coarsest is
// not passed over.
func (MultiLevel) Factors(p Problem) []int {
	if p.Tree == nil || len(p.Tree.Groups()) < 2 {
		return nil
	}
	factors := []int{int(ShapeNone)}
	for range min(shapedLevels-1, len(p.Tree.Levels())) {
		factors = append(factors, int(ShapeNone)+1)
	}
	return factors
}

// shape is the one at the given depth, 0 for the group of all ranks.
func (a MultiLevel) shape(depth int) Shape {
	if len(a.Shapes) == 0 {
		return ShapeBinomial
	}
	return a.Shapes[min(depth, len(a.Shapes)-1)]
}
