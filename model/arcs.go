package model

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/topology"
)

// orderOfArcs gives what belongs to arcs the order into which NewGraph sorts them.
func orderOfArcs(arcs []topology.Arc, belongs []int) []int {
	order := make([]int, len(arcs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(arcs[x].From-arcs[y].From, arcs[x].To-arcs[y].To)
	})
	sorted := make([]int, len(arcs))
	for i, k := range order {
		sorted[i] = belongs[k]
	}
	return sorted
}
