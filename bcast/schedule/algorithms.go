package schedule

import "fmt"

// Algorithms returns one of each algorithm that is searched for the best plan, with its default settings. NativeGroups
// needs more than sends and receives (NativeUser) and is not among them. Package classic has those that win nowhere.
func Algorithms() []Algorithm {
	return []Algorithm{
		Flat{},
		Binomial{},
		Chain{},
		MultiLevel{},
		KChain{},
		Binary{},
		SplitBinary{},
		KNomial{},
		Circulant{},
		Magpie2{},
		Earliest{},
		Paced{},
	}
}

// A Varied algorithm has settings.
type Varied interface {
	Algorithm

	// Variants returns the algorithm with each of the settings that come into
	// question, none if another algorithm would do the same. Of the problem it
	// looks at the ranks and the tree only. All variants have the same Name.
	Variants(p Problem) []Algorithm
}

// A Factored algorithm has settings that are all the combinations of some
// choices, too many to try each: who looks for the best one changes a choice at a
// time.
type Factored interface {
	Varied

	// Factors returns how many values each choice has. The index of a variant in
	// Variants is the number of which these are the bases and the choices the
	// digits, the first the most significant.
	Factors(p Problem) []int
}

// A NativeUser has steps of Kind Native. It is for communicators that have a broadcast of their own and
// can be split into groups that do, too; whoever executes schedules leaves it out elsewhere.
type NativeUser interface {
	Algorithm
	UsesNative()
}

// Variants lists the algorithms with all settings that come into question for
// the ranks and the tree of the problem; an algorithm that is not varied is its
// only variant. The list is the same on all ranks that have the same tree.
func Variants(all []Algorithm, p Problem) []Algorithm {
	var list []Algorithm
	for _, a := range all {
		if v, ok := a.(Varied); ok {
			list = append(list, v.Variants(p)...)
		} else {
			list = append(list, a)
		}
	}
	return list
}

// Text names an algorithm with its settings: what String says if it has that, or else its Name. Files of
// tuned choices know algorithms by it.
func Text(a Algorithm) string {
	if s, ok := a.(fmt.Stringer); ok {
		return s.String()
	}
	return a.Name()
}
