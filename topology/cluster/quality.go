package cluster

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/nnchain"
)

// Silhouette is the mean silhouette width (Rousseeuw 1987) over all objects,
// in [-1, 1]: (b-a)/max(a, b) for the mean distance a to the own cluster's
// others and b to the nearest other cluster. Objects alone in their cluster
// and noise count as 0; so does everything where there are fewer than two
// clusters. O(n^2).
func Silhouette(s mat.Symmetric, l Labels) float64 {
	d := rowsOf(s)
	k := l.Clusters()
	if k < 2 {
		return 0
	}
	size := make([]float64, k)
	for _, c := range l {
		if c != Noise {
			size[c]++
		}
	}
	var total float64
	sum := make([]float64, k)
	for i, own := range l {
		if own == Noise || size[own] == 1 {
			continue
		}
		clear(sum)
		for j, v := range d.row(i) {
			if l[j] != Noise {
				sum[l[j]] += v
			}
		}
		a, b := sum[own]/(size[own]-1), math.Inf(1)
		for c := range sum {
			if c != own {
				b = min(b, sum[c]/size[c])
			}
		}
		if m := max(a, b); m > 0 {
			total += (b - a) / m
		}
	}
	return total / float64(d.n)
}

// DBCV is the density-based cluster validity (Moulavi et al. 2014), in [-1,
// 1]: how much sparser it is between clusters than inside, weighted by size;
// noise weighs against it, and a cluster of one object is noise. dimension is the exponent of the core distances,
// the dimension of the space where there is one; distances alone have none: 1
// is a good choice. Fewer than two clusters give 0. O(n^2).
func DBCV(s mat.Symmetric, l Labels, dimension float64) float64 {
	d := rowsOf(s)
	groups := slices.DeleteFunc(l.Groups(), func(g []int) bool { return len(g) == 1 })
	if len(groups) < 2 {
		return 0
	}
	core := make([]float64, d.n)
	sparse := make([]float64, len(groups))
	inner := make([][]int, len(groups))
	for c, g := range groups {
		part := d.part(g)
		local := coreDistances(part, dimension)
		for i, x := range g {
			core[x] = local[i]
		}
		sparse[c], inner[c] = density(spanningTree(part, local), g)
	}
	var total float64
	for c, g := range groups {
		separation := math.Inf(1)
		for o := range groups {
			if o == c {
				continue
			}
			for _, x := range inner[c] {
				for _, y := range inner[o] {
					separation = min(separation, max(d.At(x, y), core[x], core[y]))
				}
			}
		}
		if m := max(separation, sparse[c]); m > 0 {
			total += float64(len(g)) / float64(d.n) * (separation - sparse[c]) / m
		}
	}
	return total
}

// coreDistances are the all-points core distances of one cluster.
func coreDistances(d *distances, dimension float64) []float64 {
	core := make([]float64, d.n)
	for i := range d.n {
		var sum float64
		for j, v := range d.row(i) {
			if j != i {
				sum += math.Pow(1/v, dimension)
			}
		}
		if d.n > 1 { // an infinite sum, from an object at distance 0, gives 0
			core[i] = math.Pow(sum/float64(d.n-1), -1/dimension)
		}
	}
	return core
}

// density returns the longest edge between inner vertices of a cluster's tree,
// and these vertices; of a tree without such an edge, the longest edge, and of
// one without inner vertices, all.
func density(tree []nnchain.Merge, members []int) (sparse float64, inner []int) {
	degree := make([]int, len(members))
	for _, e := range tree {
		degree[e.A]++
		degree[e.B]++
	}
	for i, x := range members {
		if degree[i] > 1 {
			inner = append(inner, x)
		}
	}
	if inner == nil {
		inner = members
	}
	var longest float64
	found := false
	for _, e := range tree {
		longest = max(longest, e.Height)
		if degree[e.A] > 1 && degree[e.B] > 1 {
			sparse, found = max(sparse, e.Height), true
		}
	}
	if !found {
		sparse = longest
	}
	return sparse, inner
}

// AdjustedRand is the Rand index of two clusterings, corrected for chance
// (Hubert and Arabie 1985): 1 for equal ones, 0 expected for random ones. Noise
// objects count as clusters of their own. O(n + k1 k2).
func AdjustedRand(a, b Labels) float64 {
	a, b = solitary(a), solitary(b)
	type cell struct{ i, j int }
	joint := make(map[cell]float64)
	rows, cols := make([]float64, a.Clusters()), make([]float64, b.Clusters())
	for x := range a {
		joint[cell{a[x], b[x]}]++
		rows[a[x]]++
		cols[b[x]]++
	}
	pairs := func(n float64) float64 { return n * (n - 1) / 2 }
	var both, inA, inB float64 // sums of whole numbers: any order gives the same
	for _, n := range joint {
		both += pairs(n)
	}
	for _, n := range rows {
		inA += pairs(n)
	}
	for _, n := range cols {
		inB += pairs(n)
	}
	all := pairs(float64(len(a)))
	if all == 0 {
		return 1
	}
	expected := inA * inB / all
	if most := (inA + inB) / 2; most != expected {
		return (both - expected) / (most - expected)
	}
	return 1 // both are one cluster, or all singletons: equal
}

// solitary gives every noise object a cluster of its own.
func solitary(l Labels) Labels {
	out := slices.Clone(l)
	next := l.Clusters()
	for i, c := range out {
		if c == Noise {
			out[i] = next
			next++
		}
	}
	return out
}
