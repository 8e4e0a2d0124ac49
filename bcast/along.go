package bcast

import "github.com/topocast/topocast/bcast/schedule"

// along is an algorithm that follows other groups of the ranks than those of the problem, such as groups that another
// method has found.
type along struct {
	schedule.Algorithm
	groups *grouping
}

var _ schedule.Factored = along{}

// Name is that of the algorithm, with the name of the groups in brackets.
func (a along) Name() string { return a.Algorithm.Name() + " (" + a.groups.Name + ")" }

// String names the settings of the algorithm, too.
func (a along) String() string { return schedule.Text(a.Algorithm) + " (" + a.groups.Name + ")" }

// Prepare implements schedule.Algorithm.
func (a along) Prepare(p schedule.Problem) schedule.Parts { return a.Algorithm.Prepare(a.problem(p)) }

// Variants implements schedule.Varied: those of the algorithm in its groups. There are none of a schedule.NativeUser,
// which has communicators of the network's groups only.
func (a along) Variants(p schedule.Problem) (all []schedule.Algorithm) {
	if _, native := a.Algorithm.(schedule.NativeUser); native {
		return nil
	}
	for _, variant := range schedule.Variants([]schedule.Algorithm{a.Algorithm}, a.problem(p)) {
		all = append(all, along{variant, a.groups})
	}
	return all
}

// Factors implements schedule.Factored. The variants of an algorithm that is not Factored are one choice.
func (a along) Factors(p schedule.Problem) []int {
	if f, ok := a.Algorithm.(schedule.Factored); ok {
		return f.Factors(a.problem(p))
	}
	return []int{len(a.Variants(p))}
}

func (a along) problem(p schedule.Problem) schedule.Problem {
	p.Tree, p.Costs = a.groups.tree, a.groups.Costs
	return p
}
