package clique

import (
	"cmp"
	"math"
	"slices"
)

// basicModel is Algorithm 1 of Bufe 2014 (section 2.2.1): pairs are tried by
// ascending latency and become an edge if they are less than the shortest path
// over the edges there are. The length of the path is one sum of two measured
// latencies, over a vertex adjacent to either end (equation 2.2). d is n*n and
// symmetric, NaN is not measured; ties are tried by (i, j). Pairs at no latency
// are always edges: where all are, no path would be longer. The result is n*n
// with the latencies of the edges, +Inf elsewhere. O(n^3).
func basicModel(n int, d []float64, r roughly) []float64 {
	type candidate struct {
		latency float64
		a, b    int // a < b
	}
	var candidates []candidate
	w := make([]float64, n*n)
	for i := range n {
		for j := range n {
			w[i*n+j] = math.Inf(1)
			if v := d[i*n+j]; i < j && !math.IsNaN(v) {
				candidates = append(candidates, candidate{v, i, j})
			}
		}
	}
	slices.SortFunc(candidates, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.latency, y.latency), x.a-y.a, x.b-y.b)
	})
	adjacent := make([][]int, n)
	for _, c := range candidates {
		a, b := c.a, c.b
		if path := min(over(d, n, adjacent[a], a, b), over(d, n, adjacent[b], a, b)); r.less(c.latency, path) || c.latency == 0 {
			w[a*n+b], w[b*n+a] = c.latency, c.latency
			adjacent[a] = append(adjacent[a], b)
			adjacent[b] = append(adjacent[b], a)
		}
	}
	return w
}

// over is the least d_ak + d_kb over the given vertices, +Inf without any.
func over(d []float64, n int, vertices []int, a, b int) float64 {
	least := math.Inf(1)
	rowA, rowB := d[a*n:(a+1)*n], d[b*n:(b+1)*n]
	for _, k := range vertices {
		if s := rowA[k] + rowB[k]; s < least {
			least = s
		}
	}
	return least
}
