package local

import "slices"

// A part is one of the groups that a Split makes.
type part struct {
	members []int // old ranks, in the order of the new ones
	group   []int // their world ranks
}

// splitParts groups the ranks by color >= 0 and orders each group by key, then
// by old rank. Parts come in ascending order of color.
func splitParts(colors, keys, group []int) []part {
	order := make([]int, 0, len(colors))
	for r, color := range colors {
		if color >= 0 {
			order = append(order, r)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if colors[a] != colors[b] {
			return colors[a] - colors[b]
		}
		switch {
		case keys[a] < keys[b]:
			return -1
		case keys[a] > keys[b]:
			return 1
		}
		return 0
	})
	var parts []part
	for i, r := range order {
		if i == 0 || colors[r] != colors[order[i-1]] {
			parts = append(parts, part{})
		}
		p := &parts[len(parts)-1]
		p.members = append(p.members, r)
		p.group = append(p.group, group[r])
	}
	return parts
}
