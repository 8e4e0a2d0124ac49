package schedule

import "github.com/topocast/topocast/topology"

// clusters are the ranks in the groups of one level. A rank in none is a cluster by itself. Line gives the order of the
// clusters, and of the ranks in each: the first rank leads, and the root leads the first cluster.
type clusters struct {
	of      []int   // per rank: its cluster
	place   []int   // per rank: its place there
	members [][]int // per cluster
	leaders []int   // per cluster: its first rank
}

// clustersOf cuts the ranks at a level, finest 0.
func clustersOf(p Problem, level int) *clusters {
	c := &clusters{of: make([]int, p.Ranks), place: make([]int, p.Ranks)}
	last := 0
	for _, r := range Line(p) {
		// The ranks of a group follow each other in the line.
		group := groupAt(p.Tree, level, r)
		if group == 0 || group != last {
			c.members = append(c.members, nil)
			c.leaders = append(c.leaders, r)
		}
		last = group
		at := len(c.members) - 1
		c.of[r], c.place[r] = at, len(c.members[at])
		c.members[at] = append(c.members[at], r)
	}
	return c
}

// groupAt is the index of the group of a level that holds the rank; 0: none.
func groupAt(tree *topology.Hierarchy, level, rank int) int {
	if tree == nil {
		return 0
	}
	g := tree.Smallest(rank)
	for g > 0 && tree.Groups()[g].Level != level {
		g = tree.Groups()[g].Parent
	}
	return g
}

// GroupedLevels are the levels of the tree that have groups, the finest first.
func GroupedLevels(p Problem) []int {
	var levels []int
	if p.Tree != nil {
		for level := range p.Tree.Levels() {
			if len(p.Tree.GroupsAt(level)) > 0 {
				levels = append(levels, level)
			}
		}
	}
	return levels
}
