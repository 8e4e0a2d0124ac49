package table

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/topology"
)

// maxRootClasses bounds how often each size has to be tuned.
const maxRootClasses = 4

// RootClasses tells which ranks are alike as roots: the class of each, numbered by their lowest
// ranks; nil if all are of one class. Ranks are alike if the groups around them are, from the group of all
// ranks inwards: of the same levels, with the same groups inside, however deep. That is a symmetry
// of the hierarchy which takes one root to the other. It says nothing of what a library makes
// of the numbers of ranks, so measurements take turns among the roots of a class. Where that
// makes more than four classes, the finest groups are passed over until it does not.
//
// h may be nil: nothing is known of the ranks. O(ranks * levels).
func RootClasses(h *topology.Hierarchy) []int {
	if h == nil {
		return nil
	}
	shape := shapes(h)
	groups := h.Groups()
	for depth := len(h.Levels()); depth > 0; depth-- {
		// The class of a group is that of its parent and its own shape; groups below the depth
		// are of the class of their parents.
		class, below := make([]int, len(groups)), make([]int, len(groups))
		number := make(map[[2]int]int)
		for g := 1; g < len(groups); g++ { // parents first
			parent := groups[g].Parent
			class[g], below[g] = class[parent], below[parent]+1
			if below[g] > depth {
				continue
			}
			key := [2]int{class[parent], shape[g]}
			if _, known := number[key]; !known {
				number[key] = len(number) + 1
			}
			class[g] = number[key]
		}
		of := make([]int, h.Hosts())
		byRank := make(map[int]int)
		for rank := range of {
			c := class[h.Smallest(rank)]
			if _, known := byRank[c]; !known {
				byRank[c] = len(byRank)
			}
			of[rank] = byRank[c]
		}
		if len(byRank) == 1 {
			return nil
		}
		if len(byRank) <= maxRootClasses {
			return of
		}
	}
	return nil
}

// RootClass is the class of a rank as a root.
func RootClass(classes []int, rank int) int {
	if classes == nil {
		return 0
	}
	return classes[rank]
}

// shapes numbers the groups so that those have one number that are equal but for the
// numbers of their hosts (Aho, Hopcroft & Ullman 1974, section 3.2, example 3.2).
func shapes(h *topology.Hierarchy) []int {
	groups := h.Groups()
	shape := make([]int, len(groups))
	number := make(map[string]int)
	for g := len(groups) - 1; g >= 0; g-- { // children before parents
		inside := make([]int, 0, len(groups[g].Children))
		for _, c := range groups[g].Children {
			inside = append(inside, shape[c])
		}
		slices.Sort(inside)
		key := fmt.Sprint(groups[g].Level, len(groups[g].Hosts), inside)
		if _, known := number[key]; !known {
			number[key] = len(number)
		}
		shape[g] = number[key]
	}
	return shape
}
