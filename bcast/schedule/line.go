package schedule

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// Line returns the ranks in the order in which algorithms take them that only
// know places in a row: the root first, then, with a hierarchy, depth first
// (each group stands together), and without one in ascending order.
func Line(p Problem) []int {
	if p.Tree != nil {
		return depthFirst(p.Tree, p.Root)
	}
	return rotated(p.Ranks, p.Root)
}

// Places returns the place of each rank in the line.
func Places(line []int) []int {
	places := make([]int, len(line))
	for place, rank := range line {
		places[rank] = place
	}
	return places
}

// rotated returns all ranks in ascending order, from the root round to it.
func rotated(ranks, root int) []int {
	order := make([]int, ranks)
	for i := range order {
		order[i] = (root + i) % ranks
	}
	return order
}

// depthFirst returns the hosts in a depth-first order of the hierarchy that
// starts at the root: its own smallest group first, then the rest of the group
// around it, and so on outwards, siblings by their lowest host. A walk along
// it enters and leaves each group at most once.
func depthFirst(h *topology.Hierarchy, root int) []int {
	order := make([]int, 0, h.Hosts())
	order = append(order, root)
	groups := h.Groups()
	done := -1 // the child of the current group that is in order already
	for g := h.Smallest(root); g >= 0; done, g = g, groups[g].Parent {
		for _, m := range members(h, g) {
			if m.host == root || m.group >= 0 && m.group == done {
				continue
			}
			order = m.appendHosts(order, h)
		}
	}
	return order
}

// A member of a group is one of its child groups, or a host directly below it.
type member struct {
	group int // index into Groups(), -1: a host
	host  int // the host, or the lowest host of the group
}

// members returns the members of group g, by lowest host.
func members(h *topology.Hierarchy, g int) []member {
	group := h.Groups()[g]
	var ms []member
	for _, x := range group.Hosts {
		if h.Smallest(x) == g {
			ms = append(ms, member{-1, x})
		}
	}
	for _, c := range group.Children {
		ms = append(ms, member{c, h.Groups()[c].Hosts[0]})
	}
	slices.SortFunc(ms, func(a, b member) int { return a.host - b.host })
	return ms
}

// appendHosts appends the hosts of the member in depth-first order.
func (m member) appendHosts(dst []int, h *topology.Hierarchy) []int {
	if m.group < 0 {
		return append(dst, m.host)
	}
	for _, c := range members(h, m.group) {
		dst = c.appendHosts(dst, h)
	}
	return dst
}
