package draw

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/topology"
)

// flatHierarchy has no group but that of all hosts.
func flatHierarchy(hosts int) *topology.Hierarchy {
	h, err := topology.NewHierarchy(hosts, nil, nil, math.NaN())
	if err != nil {
		panic(fmt.Sprintf("draw: %d hosts without groups: %v", hosts, err))
	}
	return h
}

// insideOf tells of each vertex the smallest group that it lies in: of a host its own, of a switch
// that of all that it joins from below, seen from the hosts. A switch without hosts below is in the root.
func insideOf(g *topology.Graph, h *topology.Hierarchy) []int {
	inside, height := make([]int, g.Vertices()), make([]int, g.Vertices())
	var queue []int
	for v := range inside {
		if v < g.Hosts() {
			inside[v] = h.Smallest(v)
			queue = append(queue, v)
		} else {
			inside[v], height[v] = -1, math.MaxInt
		}
	}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, v := range g.Neighbours(u) {
			if v < g.Hosts() {
				continue
			}
			if height[v] == math.MaxInt {
				height[v] = height[u] + 1
				queue = append(queue, v)
			}
			if height[v] != height[u]+1 {
				continue
			}
			if inside[v] < 0 {
				inside[v] = inside[u]
			}
			// The smallest group that holds both. Parents come before children: of two that nest it is the lower one.
			common := h.Common(h.Groups()[inside[v]].Hosts[0], h.Groups()[inside[u]].Hosts[0])
			inside[v] = min(common, inside[v], inside[u])
		}
	}
	for v := range inside {
		inside[v] = max(0, inside[v])
	}
	return inside
}
