package schedule

import "fmt"

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

var _ Varied = MultiLevel{}

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

// Settings implements Varied: the shapes on the levels of the tree. All levels within the fifth have the shape of that.
// The coarsest level is not passed over. There are no settings without groups, where other algorithms do the same.
func (MultiLevel) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	if len(GroupedLevels(p)) == 0 {
		return oneOf(nil, nil)
	}
	values = []int{int(ShapeNone)}
	for range min(shapedLevels-1, len(p.Tree.Levels())) {
		values = append(values, int(ShapeNone)+1)
	}
	return values, func(choice []int) Algorithm {
		var a MultiLevel
		for _, shape := range choice {
			a.Shapes = append(a.Shapes, Shape(shape))
		}
		return a
	}
}

// shape is the one at the given depth, 0 for the group of all ranks.
func (a MultiLevel) shape(depth int) Shape {
	if len(a.Shapes) == 0 {
		return ShapeBinomial
	}
	return a.Shapes[min(depth, len(a.Shapes)-1)]
}
