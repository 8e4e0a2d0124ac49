package schedule

import "github.com/topocast/topocast/topology"

// clusters are the ranks in the groups of one level. A rank in none is a cluster by itself. Line gives the order of the
// clusters, and of the ranks in each: the first rank leads, and the root leads the first cluster.
type clusters struct {
	of      []int   // per rank: its cluster
	place   []int   // per rank: its place there
	members [][]int // per cluster
}

// clustersOf cuts the ranks at a level, finest 0.
func clustersOf(p Problem, level int) *clusters {
	group := groupAt(p.Tree, level, p.Ranks)
	c := &clusters{of: make([]int, p.Ranks), place: make([]int, p.Ranks)}
	last := 0
	for i, r := range Line(p) {
		// The ranks of a group follow each other in the line.
		if g := group[r]; i == 0 || g == 0 || g != last {
			c.members = append(c.members, nil)
		}
		last = group[r]
		at := len(c.members) - 1
		c.of[r], c.place[r] = at, len(c.members[at])
		c.members[at] = append(c.members[at], r)
	}
	return c
}

// leaders are the first ranks of the clusters.
func (c *clusters) leaders() []int {
	var ranks []int
	for _, m := range c.members {
		ranks = append(ranks, m[0])
	}
	return ranks
}

// groupAt is the index of each rank's group of a level; 0: none.
func groupAt(tree *topology.Hierarchy, level, ranks int) []int {
	of := make([]int, ranks)
	if tree == nil {
		return of
	}
	for i, g := range tree.Groups() {
		if i > 0 && g.Level == level {
			for _, r := range g.Hosts {
				of[r] = i
			}
		}
	}
	return of
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
