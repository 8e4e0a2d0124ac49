package nested

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Graph draws a switch per group, and what latencies cannot tell of it. A switch with two links only cannot be
// seen in latencies: it is replaced by one link between its neighbours.
func (f *Fit) Graph() (*topology.Graph, []string, error) {
	t := f.Tree
	var warnings []string
	number := make([]int, len(t.Parent))
	for h := range t.N {
		number[h] = h
	}
	groups := t.Groups()
	// Switches are numbered by their smallest host, outer before inner; the root is the first.
	first := make([]int32, len(t.Parent))
	for _, v := range groups {
		first[v] = slices.Min(t.Leaves(v))
	}
	slices.SortStableFunc(groups[1:], func(a, b int32) int { return int(first[a] - first[b]) })
	switches := 0
	bypass := len(t.Kids(t.Root)) == 2
	for _, v := range groups {
		if v == t.Root && bypass {
			continue
		}
		number[v] = t.N + switches
		switches++
	}
	var arcs []topology.Arc
	link := func(u, v int32, latency float64) {
		arcs = topology.AppendLink(arcs, number[u], number[v], latency, math.NaN())
	}
	for _, v := range groups {
		kids := t.Kids(v)
		if v == t.Root && bypass {
			a, b := kids[0], kids[1]
			link(a, b, f.Length[a]+f.Length[b])
			warnings = append(warnings, fmt.Sprintf(
				"the link %s to %s may have one more switch on it: latency cannot show whether",
				vertexName(t, a, number), vertexName(t, b, number)))
			continue
		}
		for _, c := range kids {
			link(v, c, f.Length[c])
		}
	}
	var meshes []string
	for _, v := range groups {
		inner := 0 // groups of the group
		for _, c := range t.Kids(v) {
			if t.IsGroup(c) {
				inner++
			}
		}
		if inner >= 3 && !(v == t.Root && bypass) {
			meshes = append(meshes, vertexName(t, v, number))
		}
	}
	if len(groups) == 1 {
		warnings = append(warnings, fmt.Sprintf(
			"latencies cannot tell switch %s from direct links between all the hosts", vertexName(t, t.Root, number)))
	}
	if len(meshes) > 0 {
		warnings = append(warnings, fmt.Sprintf(
			"latencies cannot tell switch %s from direct links between all the switches below it", words.List(meshes)))
	}
	graph, err := topology.NewGraph(t.N, switches, nil, arcs)
	return graph, warnings, err
}

func vertexName(t *Tree, v int32, number []int) string {
	if t.IsGroup(v) {
		return fmt.Sprintf("s%d", number[v]-t.N)
	}
	return fmt.Sprintf("h%d", v)
}
