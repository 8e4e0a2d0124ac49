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
// estimate. Two neighbouring kinds may be one if no group of one holds a group of the
// other. They are one if they lie closer to each other than half of what sets them off from
// their parents. They also are if all hold equally many hosts: a pair of cores that was read
// once, and badly, is still a pair of cores. Where a kind nests in itself - uncertain groups inside groups - the outermost
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

// joinClasses makes neighbouring classes one where nothing but distance speaks
// against it, the closest first.
func joinClasses(t *nested.Tree, groups []int32, class []int) {
	for {
		members := map[int][]int32{}
		last := 0
		for _, v := range groups {
			c := class[int(v)-t.N]
			members[c] = append(members[c], v)
			last = max(last, c)
		}
		typical := func(c int) float64 {
			var levels []float64
			for _, v := range members[c] {
				levels = append(levels, t.LevelOf(v))
			}
			return stats.LowerMedian(levels)
		}
		best, join := math.Inf(1), -1
		for c := range last {
			gap := typical(c+1) - typical(c)
			if gap >= best || nestedIn(t, members[c], class, c+1) {
				continue
			}
			room := math.Inf(1)
			for _, v := range slices.Concat(members[c], members[c+1]) {
				room = min(room, t.LevelOf(t.Parent[v])-t.LevelOf(v))
			}
			if gap < room/2 || equallyLarge(t, members[c], members[c+1]) {
				best, join = gap, c
			}
		}
		if join < 0 {
			return
		}
		for _, v := range groups {
			if at := int(v) - t.N; class[at] > join {
				class[at]--
			}
		}
	}
}

// equallyLarge tells whether all groups of both lists hold as many hosts.
func equallyLarge(t *nested.Tree, a, b []int32) bool {
	size := t.Size(a[0])
	for _, v := range slices.Concat(a, b) {
		if t.Size(v) != size {
			return false
		}
	}
	return true
}

// nestedIn tells whether one of the groups lies inside a group of class c.
func nestedIn(t *nested.Tree, groups []int32, class []int, c int) bool {
	for _, v := range groups {
		for p := t.Parent[v]; p != t.Root; p = t.Parent[p] {
			if class[int(p)-t.N] == c {
				return true
			}
		}
	}
	return false
}

// remeasure sets the levels of the groups to the lower medians of the measured
// measurements between their children; a group without any keeps its level.
func remeasure(t *nested.Tree, at func(i, j int) float32) {
	var within []float32
	for _, v := range t.Groups() {
		within = appendWithin(within[:0], t, v, at)
		if len(within) > 0 {
			t.Level[int(v)-t.N] = math.Log(float64(stats.LowerMedian(within)))
		}
	}
}
