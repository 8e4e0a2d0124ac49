package bcast

import "github.com/topocast/topocast/bcast/schedule"

// along is an algorithm that follows other groups of the ranks than those of the problem, such as groups that another
// method has found.
type along struct {
	schedule.Algorithm
	groups *grouping
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
