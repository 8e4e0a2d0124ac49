package schedule

import (
	"fmt"
	"slices"
)

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

	// Settings returns how many values of each setting come into question, and a function that makes the algorithm with
	// one value of each. A setting without values says that another algorithm does the same. Settings looks at the
	// ranks and the tree of the problem only. All variants have the same Name.
	Settings(p Problem) (values []int, with func(choice []int) Algorithm)
}

// oneOf are the Settings of an algorithm with one setting, a number of the list.
func oneOf(list []int, of func(number int) Algorithm) (values []int, with func(choice []int) Algorithm) {
	return []int{len(list)}, func(choice []int) Algorithm { return of(list[choice[0]]) }
}

// orDefault is a setting, or its default if it is less than it can be.
func orDefault(setting, least, otherwise int) int {
	if setting < least {
		return otherwise
	}
	return setting
}

// A NativeUser has steps of Kind Native. It is for communicators that have a broadcast of their own and
// can be split into groups that do, too; whoever executes schedules leaves it out elsewhere.
type NativeUser interface {
	Algorithm
	UsesNative()
}

// Variants lists the algorithms with all settings that come into question for the ranks and the tree of the problem. An
// algorithm that is not varied is its only variant. Of the settings of one algorithm the last one changes fastest. The
// list is the same on all ranks that have the same tree.
func Variants(all []Algorithm, p Problem) []Algorithm {
	var list []Algorithm
	for _, a := range all {
		v, ok := a.(Varied)
		if !ok {
			list = append(list, a)
			continue
		}
		values, with := v.Settings(p)
		count := 1
		for _, n := range values {
			count *= n
		}
		for i := range count {
			choice := make([]int, len(values))
			for k, n := range slices.Backward(values) {
				choice[k] = i % n
				i /= n
			}
			list = append(list, with(choice))
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
