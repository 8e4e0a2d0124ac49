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
		return depthFirst(make([]int, 0, p.Ranks), p.Tree, 0, p.Root)
	}
	return rotated(p.Ranks, p.Root)
}

// ByPlace returns the parts of ranks that know what they do by their place in the line.
func ByPlace(line []int, part func(place int) Part) Parts {
	places := make([]int, len(line))
	for place, rank := range line {
		places[rank] = place
	}
	return PartOf(func(rank int) Part { return part(places[rank]) })
}

// rotated returns all ranks in ascending order, from the root round to it.
func rotated(ranks, root int) []int {
	order := make([]int, ranks)
	for i := range order {
		order[i] = (root + i) % ranks
	}
	return order
}

// depthFirst appends the hosts of a group in a depth-first order that starts at one of them, if it holds that: the member
// that holds it first, and the others by their lowest host. A walk along it enters and leaves each group at most once.
func depthFirst(order []int, h *topology.Hierarchy, group, start int) []int {
	for _, m := range members(h, group, start) {
		if m.group < 0 {
			order = append(order, m.host)
		} else {
			order = depthFirst(order, h, m.group, start)
		}
	}
	return order
}

// A member of a group is one of its child groups, or a host directly below it.
type member struct {
	group int // index into Groups(), -1: a host
	host  int // the host, or the lowest host of the group
	size  int // number of hosts
}

// members returns the members of a group, by lowest host, but first the one that holds the given host.
func members(h *topology.Hierarchy, group, first int) []member {
	g := h.Groups()[group]
	var ms []member
	for _, x := range g.Hosts {
		if h.Smallest(x) == group {
			ms = append(ms, member{-1, x, 1})
		}
	}
	for _, c := range g.Children {
		hosts := h.Groups()[c].Hosts
		ms = append(ms, member{c, hosts[0], len(hosts)})
	}
	key := func(m member) int {
		if m.host == first || m.group >= 0 && holds(h.Groups()[m.group].Hosts, first) {
			return -1
		}
		return m.host
	}
	slices.SortFunc(ms, func(a, b member) int { return key(a) - key(b) })
	return ms
}

func holds(hosts []int, host int) bool {
	_, in := slices.BinarySearch(hosts, host)
	return in
}
