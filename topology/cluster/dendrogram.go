package cluster

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/topology"
)

// A dendrogram is the binary tree of an agglomerative clustering of n objects. It is immutable.
type dendrogram struct {
	n      int
	merges []nnchain.Merge // n-1, by ascending height
}

// size is the number of objects in a cluster.
func (t *dendrogram) size(c int32) int {
	if int(c) < t.n {
		return 1
	}
	return int(t.merges[int(c)-t.n].Size)
}

// after returns the clusters after the first k merges.
func (t *dendrogram) after(k int) Labels {
	owner := make([]int, t.n+k)
	for c := range owner {
		owner[c] = c
	}
	for i := k - 1; i >= 0; i-- { // from the last, whose cluster has no owner but itself
		m := t.merges[i]
		owner[m.A], owner[m.B] = owner[t.n+i], owner[t.n+i]
	}
	return Relabel(owner[:t.n])
}

// belowWidestGap is the number of merges below the largest ratio of consecutive heights; all if no two differ.
func (t *dendrogram) belowWidestGap() int {
	best, below := 1.0, len(t.merges)
	for k := 1; k < len(t.merges); k++ {
		if low, high := t.merges[k-1].Height, t.merges[k].Height; low > 0 && high/low > best {
			best, below = high/low, k
		}
	}
	return below
}

// hierarchy turns the tree into nested groups. A merge whose height is below
// ratio times that of the merge above is no group of its own: both are one
// node with many children. ratio is at least 1; 1 keeps all but equal heights.
// The heights become latencies. Levels are classes of heights between which
// the ratio is at least as large, split further where groups of one class
// nest. Confidences are NaN: nothing judges the groups here, as linkage.Robust
// does. O(n^2) at most.
func (t *dendrogram) hierarchy(ratio float64) (*topology.Hierarchy, error) {
	if !(ratio >= 1) {
		return nil, fmt.Errorf("cluster: hierarchy: ratio %g: want at least 1", ratio)
	}
	if len(t.merges) == 0 {
		return topology.NewHierarchy(t.n, nil, nil, math.NaN())
	}
	above := make([]float64, len(t.merges)) // height of the merge that each is part of; 0 of the root
	inner := func(m nnchain.Merge) []int {
		var parts []int
		for _, c := range [2]int32{m.A, m.B} {
			if k := int(c) - t.n; k >= 0 {
				parts = append(parts, k)
			}
		}
		return parts
	}
	for _, m := range t.merges {
		for _, k := range inner(m) {
			above[k] = m.Height
		}
	}
	var groups []topology.Group            // by ascending height
	coarsest := make([]int, len(t.merges)) // level of the groups in each merge, itself included; -1: none
	first, levels := 0, 0                  // the first level of the present class, and levels so far
	for k, m := range t.merges {
		coarsest[k] = -1
		for _, part := range inner(m) {
			coarsest[k] = max(coarsest[k], coarsest[part])
		}
		if !(above[k] > ratio*m.Height) {
			continue
		}
		if last := len(groups) - 1; last >= 0 && m.Height > ratio*groups[last].Latency {
			first = levels
		}
		coarsest[k] = max(first, coarsest[k]+1)
		levels = max(levels, coarsest[k]+1)
		groups = append(groups, topology.Group{Hosts: t.members(int32(t.n + k)), Level: coarsest[k], Latency: m.Height, Confidence: math.NaN()})
	}
	return topology.NewHierarchy(t.n, topology.NewLevels(groups), groups, t.merges[len(t.merges)-1].Height)
}

// members returns the objects of a cluster, ascending.
func (t *dendrogram) members(c int32) []int {
	var all []int
	for left := []int32{c}; len(left) > 0; {
		last := len(left) - 1
		c, left = left[last], left[:last]
		if k := int(c) - t.n; k >= 0 {
			left = append(left, t.merges[k].A, t.merges[k].B)
		} else {
			all = append(all, int(c))
		}
	}
	slices.Sort(all)
	return all
}
