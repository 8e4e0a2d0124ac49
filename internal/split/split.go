// Package split works out the groups of MPI_Comm_split for the communicators that run in one process.
package split

import (
	"cmp"
	"slices"
)

// Groups groups ranks by their color. colors and keys hold the arguments of each rank. A group lists its ranks
// by ascending key, and ranks of equal key by ascending rank. Groups come by ascending color. Ranks with a color
// below 0 are in none. O(n log n).
func Groups(colors, keys []int) [][]int {
	var order []int
	for rank, color := range colors {
		if color >= 0 {
			order = append(order, rank)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(colors[a], colors[b]), cmp.Compare(keys[a], keys[b]), a-b)
	})
	var groups [][]int
	for i, rank := range order {
		if i == 0 || colors[rank] != colors[order[i-1]] {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], rank)
	}
	return groups
}
