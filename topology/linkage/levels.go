package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/stats"
)

// classBandwidth is that of the density estimate over the groups' levels, in ln
// units: kernels two bandwidths apart merge, so levels nearer than 8 % are of one kind: what
// cores of one kind differ by (stepCriterion).
const classBandwidth = 0.04

// levelClasses numbers the kinds of groups from fine to coarse: all sockets,
// all racks. Index v-n; the root is not classed.
//
// Groups of similar level are of one kind, by the peaks of a density
// estimate. Two neighbouring kinds are one if all their groups hold equally many hosts: a pair of cores that was
// measured once, and badly, is still a pair of cores. Where a kind nests in itself - weak groups inside groups - the outermost
// groups are of one kind, those inside of a finer one. In the end a group is
// coarser than all inside it.
func levelClasses(t *nested.Tree) []int {
	groups := t.Groups()[1:] // parents first
	class := make([]int, len(t.Children))
	if len(groups) == 0 {
		return class
	}
	values := make([]float64, len(groups))
	for k, v := range groups {
		values[k] = t.LevelOf(v)
	}
	kind := stats.Classes(values, classBandwidth)
	for k, v := range groups {
		class[int(v)-t.N] = kind[k]
	}
	joinClasses(t, groups, class)

	// A group is of a finer kind than the one around it, however near their levels.
	for _, v := range groups {
		at, p := int(v)-t.N, t.Parent[v]
		class[at] *= len(groups)
		if p != t.Root {
			class[at] = min(class[at], class[int(p)-t.N]-1)
		}
	}
	// Close the gaps.
	var used []int
	for _, v := range groups {
		used = append(used, class[int(v)-t.N])
	}
	slices.Sort(used)
	used = slices.Compact(used)
	for _, v := range groups {
		class[int(v)-t.N], _ = slices.BinarySearch(used, class[int(v)-t.N])
	}
	return class
}

// joinClasses makes neighbouring classes one whose groups all hold equally many hosts.
func joinClasses(t *nested.Tree, groups []int32, class []int) {
	const differ = -1
	var size []int // of all groups of a class
	for _, v := range groups {
		c, own := class[int(v)-t.N], t.Size(v)
		for len(size) <= c {
			size = append(size, 0)
		}
		if size[c] != 0 && size[c] != own {
			own = differ
		}
		size[c] = own
	}
	number := make([]int, len(size))
	for c := 1; c < len(size); c++ {
		number[c] = number[c-1]
		if size[c] == differ || size[c] != size[c-1] {
			number[c]++
		}
	}
	for _, v := range groups {
		at := int(v) - t.N
		class[at] = number[class[at]]
	}
}

// remeasure sets the levels of the groups to the lower medians of the measured
// readings between their children; a group without any keeps its level.
func remeasure(t *nested.Tree, at func(i, j int) float32) {
	var within []float32
	for _, v := range t.Groups() {
		within = appendWithin(within[:0], t, v, at)
		if len(within) > 0 {
			t.Level[int(v)-t.N] = math.Log(float64(stats.LowerMedian(within)))
		}
	}
}
