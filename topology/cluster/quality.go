package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Silhouette is the mean silhouette width (Rousseeuw 1987) over all objects,
// in [-1, 1]: (b-a)/max(a, b) for the mean distance a to the own cluster's
// others and b to the nearest other cluster. Objects alone in their cluster
// and noise count as 0; so does everything where there are fewer than two
// clusters. O(n^2).
func Silhouette(d *Distances, l Labels) float64 {
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
func DBCV(d *Distances, l Labels, dimension float64) float64 {
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
		tree := spanningTree(part.n, part.row, local)
		sparse[c], inner[c] = density(tree, g)
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
func coreDistances(d *Distances, dimension float64) []float64 {
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
func density(tree []edge, members []int) (sparse float64, inner []int) {
	degree := make([]int, len(members))
	for _, e := range tree {
		degree[e.a]++
		degree[e.b]++
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
		longest = max(longest, e.length)
		if degree[e.a] > 1 && degree[e.b] > 1 {
			sparse, found = max(sparse, e.length), true
		}
	}
	if !found {
		sparse = longest
	}
	return sparse, inner
}

// Stability tells for each cluster in which share of the resamples exactly the
// same cluster comes out again, when every distance is multiplied by
// exp(sigma*N(0,1)). Where the noise of the readings is known, it is sigma.
// Costs one run of the method per resample.
func Stability(c Clusterer, d *Distances, sigma float64, resamples int, rng *rand.Rand) ([]float64, error) {
	labels, err := c.Cluster(d)
	if err != nil {
		return nil, err
	}
	groups := labels.Groups()
	share := make([]float64, len(groups))
	noisy := &Distances{n: d.n, d: make([]float64, len(d.d))}
	for range resamples {
		for i := range d.n {
			for j := range i {
				v := d.At(i, j) * math.Exp(sigma*rng.NormFloat64())
				noisy.d[i*d.n+j], noisy.d[j*d.n+i] = v, v
			}
		}
		again, err := c.Cluster(noisy)
		if err != nil {
			return nil, err
		}
		found := again.Groups()
		for k, g := range groups {
			// Canonical labels: the cluster of g's first member is the only candidate.
			if l := again[g[0]]; l != Noise && slices.Equal(found[l], g) {
				share[k] += 1 / float64(resamples)
			}
		}
	}
	return share, nil
}
