package draw

import (
	"fmt"
	"math"
	"slices"

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
	const unseen = -1
	inside, height := make([]int, g.Vertices()), slices.Repeat([]int{unseen}, g.Vertices())
	queue := make([]int, 0, g.Vertices())
	for host := range g.Hosts() {
		inside[host], height[host] = h.Smallest(host), 0
		queue = append(queue, host)
	}
	for k := 0; k < len(queue); k++ {
		u := queue[k]
		for _, v := range g.Neighbours(u) {
			if height[v] == unseen {
				inside[v], height[v] = inside[u], height[u]+1
				queue = append(queue, v)
			}
			if height[v] == height[u]+1 {
				// The smallest group that holds both. Parents come before children: of two that nest it is the lower one.
				common := h.Common(h.Groups()[inside[v]].Hosts[0], h.Groups()[inside[u]].Hosts[0])
				inside[v] = min(common, inside[v], inside[u])
			}
		}
	}
	return inside
}
