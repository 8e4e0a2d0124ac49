package schedule

import "github.com/topocast/topocast/topology"

// Along is an algorithm that follows other groups of the ranks than those of the problem, such as groups that another
// method has found.
type Along struct {
	Algorithm
	Groups string              // their name
	Tree   *topology.Hierarchy // of the ranks
	Costs  *Costs              // of messages by level of Tree; nil: a guess
}

var _ Factored = Along{}

// Name is that of the algorithm, with the name of the groups in brackets.
func (a Along) Name() string { return a.Algorithm.Name() + " (" + a.Groups + ")" }

// String names the settings of the algorithm, too.
func (a Along) String() string { return Text(a.Algorithm) + " (" + a.Groups + ")" }

// Prepare implements Algorithm.
func (a Along) Prepare(p Problem) Parts { return a.Algorithm.Prepare(a.along(p)) }

// Variants implements Varied: those of the algorithm in its groups. There are none of a NativeUser, which has communicators
// of the problem's groups only.
func (a Along) Variants(p Problem) (all []Algorithm) {
	if _, native := a.Algorithm.(NativeUser); native {
		return nil
	}
	for _, variant := range Variants([]Algorithm{a.Algorithm}, a.along(p)) {
		all = append(all, Along{variant, a.Groups, a.Tree, a.Costs})
	}
	return all
}

// Factors implements Factored. The variants of an algorithm that is not Factored are one choice.
func (a Along) Factors(p Problem) []int {
	if f, ok := a.Algorithm.(Factored); ok {
		return f.Factors(a.along(p))
	}
	return []int{len(a.Variants(p))}
}

func (a Along) along(p Problem) Problem {
	p.Tree, p.Costs = a.Tree, a.Costs
	return p
}
