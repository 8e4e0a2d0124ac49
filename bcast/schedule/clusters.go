package schedule

import "github.com/topocast/topocast/topology"

// TwoLevels is the tree of two shapes, among the leaders of the clusters of a
// level and within these.
func TwoLevels(p Problem, level int, between, within Shape) *Tree {
	var edges []Edge
	leaders := []int{p.Root}
	parts := clusters(p, level)
	for _, ranks := range parts {
		if ranks[0] != p.Root {
			leaders = append(leaders, ranks[0])
		}
	}
	edges = between.join(edges, leaders)
	for _, ranks := range parts {
		edges = within.join(edges, ranks)
	}
	return NewTree(p.Ranks, edges)
}

// clusters returns the ranks of each group of the level, and those in none by
// themselves, in ascending order of their lowest rank. In each the leader is the
// first, which is the root or the lowest rank.
func clusters(p Problem, level int) [][]int {
	of := clusterOf(p, level)
	var all [][]int
	index := make(map[int]int) // by lowest rank
	for r, lowest := range of {
		i, known := index[lowest]
		if !known {
			i = len(all)
			index[lowest] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	own := all[index[of[p.Root]]]
	for i, r := range own {
		if r == p.Root {
			copy(own[1:i+1], own[:i])
			own[0] = r
		}
	}
	return all
}

// clusterOf returns the lowest rank of the cluster of each rank.
func clusterOf(p Problem, level int) []int {
	of := make([]int, p.Ranks)
	for r := range of {
		of[r] = r
	}
	if p.Tree == nil {
		return of
	}
	for _, g := range p.Tree.Groups()[1:] {
		if g.Level == level {
			for _, r := range g.Hosts {
				of[r] = g.Hosts[0]
			}
		}
	}
	return of
}

// PerLevel makes an algorithm for each level of the tree that has groups.
func PerLevel(p Problem, of func(level int) Algorithm) []Algorithm {
	if p.Tree == nil {
		return nil
	}
	var all []Algorithm
	for level := range p.Tree.Levels() {
		if hasGroups(p.Tree, level) {
			all = append(all, of(level))
		}
	}
	return all
}

func hasGroups(h *topology.Hierarchy, level int) bool {
	for _, g := range h.Groups()[1:] {
		if g.Level == level {
			return true
		}
	}
	return false
}
