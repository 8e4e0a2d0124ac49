package decisions

import (
	"cmp"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/topology"
)

// A Grouping is groups of the ranks with their costs, as rank 0 tells them. It has no name if it is that of the network,
// and no tree where nothing is known of the ranks.
type Grouping struct {
	table.Topology
	Costs  *schedule.Costs // of the ranks; nil: not known
	Wanted bool            // plans along them come into question; otherwise they are there for choices of the network's table

	tree *topology.Hierarchy
}

// build makes the hierarchy of a grouping, once.
func (g *Grouping) build(ranks int) (err error) {
	if g.tree != nil || g.Name == "" && g.Levels == nil {
		return nil
	}
	g.tree, err = (&table.Topology{Name: cmp.Or(g.Name, table.Found), Levels: g.Levels}).Tree(ranks)
	return err
}

// along is the algorithms along the groups.
func (g *Grouping) along(algorithms []schedule.Algorithm) (all []schedule.Algorithm) {
	if g.Name == "" {
		return algorithms
	}
	for _, a := range algorithms {
		all = append(all, along{a, g})
	}
	return all
}

// along is an algorithm that follows other groups of the ranks than those of the problem, such as groups that another
// method has found.
type along struct {
	schedule.Algorithm
	groups *Grouping
}

var _ schedule.Varied = along{}

// Name is that of the algorithm, with the name of the groups in brackets.
func (a along) Name() string { return a.Algorithm.Name() + " (" + a.groups.Name + ")" }

// String names the settings of the algorithm, too.
func (a along) String() string { return schedule.Text(a.Algorithm) + " (" + a.groups.Name + ")" }

// Prepare implements schedule.Algorithm.
func (a along) Prepare(p schedule.Problem) schedule.Parts { return a.Algorithm.Prepare(a.problem(p)) }

// Settings implements schedule.Varied: those of the algorithm in its groups. There are none of a schedule.NativeUser,
// which has communicators of the network's groups only.
func (a along) Settings(p schedule.Problem) (values []int, with func(choice []int) schedule.Algorithm) {
	if _, native := a.Algorithm.(schedule.NativeUser); native {
		return []int{0}, nil
	}
	v, ok := a.Algorithm.(schedule.Varied)
	if !ok {
		return nil, func([]int) schedule.Algorithm { return a }
	}
	values, inGroups := v.Settings(a.problem(p))
	return values, func(choice []int) schedule.Algorithm { return along{inGroups(choice), a.groups} }
}

func (a along) problem(p schedule.Problem) schedule.Problem {
	p.Tree, p.Costs = a.groups.tree, a.groups.Costs
	return p
}

// textOf names an algorithm with its settings, and the groups that it follows; "": those of the network.
func textOf(a schedule.Algorithm) (text, groups string) {
	if x, ok := a.(along); ok {
		return schedule.Text(x.Algorithm), x.groups.Name
	}
	return schedule.Text(a), ""
}
