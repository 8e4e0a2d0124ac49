package paths

import "math"

// SameLength is the share by which two paths of one length may differ: their sums round by
// 1e-16 for each link, and latencies in files have nine digits or more. 3e-10 to 3e-9 pass the tests.
const SameLength = 1e-9

// OnShortest tells whether an arc of the given length is the last one of a shortest path to
// where it leads: near is how far the vertex is that it leaves, far how far the one that it enters.
func OnShortest(near, length, far float64) bool {
	return length+near-far <= SameLength*far
}

// Fewest finds the shortest paths with the fewest arcs: it writes into hops how many
// arcs those from src to each vertex have, math.MaxInt32 where there is none.
// dist are the lengths that From found. It appends to order the vertices that it reaches: with
// out[v] sorted by To, ordered by their paths, of which those with fewer arcs come first and the others
// as their vertices compare from the source on. So the first vertex in order from which a path goes on to
// v is the one before v on its first path. O(m) for m arcs.
func Fewest(out [][]Arc, src int, dist []float64, hops []int32, order []int) []int {
	for v := range hops {
		hops[v] = math.MaxInt32
	}
	hops[src] = 0
	first := len(order)
	order = append(order, src)
	for i := first; i < len(order); i++ {
		v := order[i]
		for _, a := range out[v] {
			if hops[a.To] == math.MaxInt32 && OnShortest(dist[v], a.Length, dist[a.To]) {
				hops[a.To] = hops[v] + 1
				order = append(order, int(a.To))
			}
		}
	}
	return order
}
