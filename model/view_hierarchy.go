package model

import (
	"github.com/topocast/topocast/topology"
)

// cutHierarchy restricts the hierarchy, weak groups included, and returns the
// parameters of the levels of its firm groups. Of groups that have become the
// same the finest firm one is kept, or the finest if all are weak; those of all
// ranks become the root.
func (n *Network) cutHierarchy(old []int) (*topology.Hierarchy, []LevelParams, error) {
	h := n.reported
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
			if len(members[c]) == len(members[i]) && (h.Groups()[stands[c]].Firm() || !g.Firm()) {
				stands[i] = stands[c]
			}
		}
	}
	root := stands[0]
	used := make([]bool, len(h.Levels()))
	var groups []topology.Group
	for i, g := range h.Groups() {
		if len(members[i]) < 2 || len(members[i]) == len(old) || stands[top[i]] != i {
			continue
		}
		groups = append(groups, topology.Group{Hosts: members[i], Level: g.Level, Latency: g.Latency, Support: g.Support})
		used[g.Level] = true
	}
	number := make([]int, len(h.Levels()))
	var levels []topology.Level
	var of []int // level of the cut -> level of the whole, the root's last
	for i, l := range h.Levels() {
		number[i] = len(levels)
		if used[i] {
			levels, of = append(levels, l), append(of, i)
		}
	}
	for i := range groups {
		groups[i].Level = number[groups[i].Level]
	}
	of = append(of, h.Groups()[root].Level)
	cut, err := topology.NewHierarchy(len(old), levels, groups, h.Groups()[root].Latency)
	if err != nil {
		return nil, nil, err
	}
	whole := firmLevels(h)
	var params []LevelParams
	for level, number := range firmLevels(cut) {
		if number >= 0 {
			params = append(params, n.s.Levels[whole[of[level]]])
		}
	}
	return cut, params, nil
}
