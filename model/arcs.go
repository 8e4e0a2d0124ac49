package model

import (
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
		if arcs[x].From != arcs[y].From {
			return arcs[x].From - arcs[y].From
		}
		return arcs[x].To - arcs[y].To
	})
	sorted := make([]int, len(arcs))
	for i, k := range order {
		sorted[i] = belongs[k]
	}
	return sorted
}
