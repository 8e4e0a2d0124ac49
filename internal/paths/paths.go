// Package paths is the one search for shortest paths, over arcs as plain slices. Whose arcs they
// are, and which of several equally short paths counts, is its callers' business:
// topology.Paths and topology.Routes, greedy reconstruction, and model's costs.
package paths

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

// An Arc leads to a vertex.
type Arc struct {
	To     int32
	Length float64 // at least 0; +Inf is as good as no arc
}

// From writes into dist the length of the shortest path from src to every
// vertex, +Inf where there is none. out[v] are the arcs that leave v. It
// appends to order the vertices that it reaches, each after those on its path, and
// otherwise by length and then by number. It is Dijkstra's algorithm (1959,
// doi:10.1007/BF01386390). O(m log m) for m arcs.
func From(out [][]Arc, src int, dist []float64, order []int) []int {
	for v := range dist {
		dist[v] = math.Inf(1)
	}
	dist[src] = 0
	waiting := queue.Min{{Key: 0, ID: int64(src)}}
	for len(waiting) > 0 {
		at := waiting.Pop()
		v := int(at.ID)
		if at.Key > dist[v] {
			continue // a shorter path was found since
		}
		order = append(order, v)
		for _, a := range out[v] {
			if d := at.Key + a.Length; d < dist[a.To] {
				dist[a.To] = d
				waiting.Push(queue.Item{Key: d, ID: int64(a.To)})
			}
		}
	}
	return order
}
