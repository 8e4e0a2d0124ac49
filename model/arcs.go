package model

import "github.com/topocast/topocast/topology"

// orderOfArcs gives what belongs to arcs the order that they have in the graph that was made of them.
func orderOfArcs(g *topology.Graph, arcs []topology.Arc, belongs []int) []int {
	sorted := make([]int, len(arcs))
	for i, a := range arcs {
		sorted[g.ArcIndex(a.From, a.To)] = belongs[i]
	}
	return sorted
}
