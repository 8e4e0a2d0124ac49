package nnchain

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// Prim grows a minimum spanning tree of n vertices from vertex 0. row gives the lengths between a vertex and all n; it may
// use the same memory again. join takes each vertex as the tree reaches it, the vertex of the tree that it is nearest to, and
// the length between the two. The length is +Inf for the first vertex of a part that no length joins to those before. NaN is
// no length. Ties go to the lowest vertex. O(n^2).
func Prim[F stats.Float](n int, row func(v int) []F, join func(from, to int, length F)) {
	var out []int32 // vertices outside of the tree, ascending
	reach, from := make([]F, n), make([]int, n)
	for v := 1; v < n; v++ {
		out = append(out, int32(v))
		reach[v] = F(math.Inf(1))
	}
	for last := 0; len(out) > 0; {
		lengths := row(last)
		at, least := 0, F(math.Inf(1))
		for k, v := range out {
			if x := lengths[v]; x < reach[v] {
				reach[v], from[v] = x, last
			}
			if x := reach[v]; x < least {
				at, least = k, x
			}
		}
		last = int(out[at])
		out = slices.Delete(out, at, at+1)
		join(from[last], last, least)
	}
}
