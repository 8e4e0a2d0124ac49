package model

import (
	"github.com/topocast/topocast/topology"
)

// cutHierarchy restricts the hierarchy, uncertain groups included, and returns the parameters of the levels of its
// confident groups. Of groups that have become the same the finest confident one is kept, or the finest if all are
// uncertain. A group of all ranks becomes the root.
func (n *Network) cutHierarchy(old []int) (*topology.Hierarchy, []LevelParams, error) {
	h := n.found.Hierarchy
	members := make([][]int, len(h.Groups()))
	for i, r := range old {
		if r < 0 {
			members[0] = append(members[0], i)
			continue
		}
		for g := h.Smallest(r); g >= 0; g = h.Groups()[g].Parent {
			members[g] = append(members[g], i)
		}
	}
	// Of a chain of groups that have become the same: its top, and which of it and
	// those below stands for all. Children come after parents.
	top, stands := make([]int, len(h.Groups())), make([]int, len(h.Groups()))
	for i := range top {
		top[i] = i
		if p := h.Groups()[i].Parent; p >= 0 && len(members[p]) == len(members[i]) {
			top[i] = top[p]
		}
	}
	for i := len(stands) - 1; i >= 0; i-- {
		g := &h.Groups()[i]
		stands[i] = i
		for _, c := range g.Children {
			if len(members[c]) == len(members[i]) && (h.Groups()[stands[c]].Confident() || !g.Confident()) {
				stands[i] = stands[c]
			}
		}
	}
	root := &h.Groups()[stands[0]]
	used := make([]bool, len(h.Levels()))
	var groups []topology.Group
	for i, g := range h.Groups() {
		if len(members[i]) < 2 || len(members[i]) == len(old) || stands[top[i]] != i {
			continue
		}
		groups = append(groups, topology.Group{Hosts: members[i], Level: g.Level, Latency: g.Latency, Confidence: g.Confidence})
		used[g.Level] = true
	}
	number := make([]int, len(h.Levels()))
	var levels []topology.Level
	for i, l := range h.Levels() {
		number[i] = len(levels)
		if used[i] {
			levels = append(levels, l)
		}
	}
	for i := range groups {
		groups[i].Level = number[groups[i].Level]
	}
	cut, err := topology.NewHierarchy(len(old), levels, groups, root.Latency)
	if err != nil {
		return nil, nil, err
	}
	return cut, n.paramsOf(cut.Confident(topology.ConfidentFrom), old), nil
}

// paramsOf are the parameters of the levels of a view's confident groups: those of the level that joins the same two
// ranks in the whole. All that joins ranks of unknown hosts is of the coarsest level.
func (n *Network) paramsOf(h *topology.Hierarchy, old []int) []LevelParams {
	params := make([]LevelParams, len(h.Levels())+1)
	params[len(h.Levels())] = n.s.Levels[len(n.s.Levels)-1]
	for i, g := range h.Groups() {
		for _, b := range g.Hosts {
			a := g.Hosts[0]
			if min(old[a], old[b]) >= 0 && h.Common(a, b) == i && (a != b || len(old) == 1) {
				params[g.Level] = n.s.Levels[n.LevelOf(old[a], old[b])]
				break
			}
		}
	}
	return params
}
