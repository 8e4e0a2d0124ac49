package cluster

import (
	"fmt"
	"math"
)

// HDBSCAN finds the clusters that persist longest while the density threshold
// falls (Campello, Moulavi and Sander 2013; Campello et al. 2015): mutual
// reachability, its single-linkage tree, the tree condensed to clusters of at
// least MinClusterSize, and the selection of largest total stability ("excess
// of mass"). O(n^2).
type HDBSCAN struct {
	MinClusterSize int  // 0: 2
	MinSamples     int  // neighbours that set an object's core distance, the object not counted; 0: 1
	AllowSingle    bool // the root may be chosen: one cluster of all
}

var _ Clusterer = HDBSCAN{}

// Cluster returns the selected clusters; objects in none are noise.
func (h HDBSCAN) Cluster(d *Distances) (Labels, error) {
	if h.MinClusterSize == 0 {
		h.MinClusterSize = 2
	}
	if h.MinSamples == 0 {
		h.MinSamples = 1
	}
	if h.MinClusterSize < 2 || h.MinSamples < 1 {
		return nil, fmt.Errorf("cluster: HDBSCAN: MinClusterSize = %d, MinSamples = %d: want at least 2 and 1", h.MinClusterSize, h.MinSamples)
	}
	c := h.condense(fromTree(d.n, spanningTree(d.n, d.row, d.kth(h.MinSamples))))
	c.selectStable(h.AllowSingle)
	return c.labels(), nil
}

// A condensed tree says for each of its clusters how long it lived. Densities
// are lambda = 1/distance. Cluster 0 is the root, parents come before children.
type condensed struct {
	parent    []int     // of each cluster; -1 for the root
	birth     []float64 // lambda at which the cluster split off; 0 for the root
	stability []float64 // sum over its objects of (lambda at which they leave it - birth)
	selected  []bool    // chosen as a flat cluster
	last      []int     // per object: the last cluster that it belongs to
}

// condense walks down from the root. A split into two clusters of at least
// MinClusterSize makes two new clusters; otherwise the objects of the small
// side fall out, and the large side goes on as the same cluster.
func (h HDBSCAN) condense(t *dendrogram) *condensed {
	c := &condensed{last: make([]int, t.n)}
	if t.n == 0 {
		return c
	}
	c.add(-1, 0)
	if t.n == 1 {
		return c
	}
	// Objects at distance 0 would have infinite density: take half the
	// smallest positive height instead.
	floor := math.Inf(1)
	for _, m := range t.merges {
		if m.height > 0 {
			floor = min(floor, m.height/2)
		}
	}
	if math.IsInf(floor, 1) {
		floor = 1
	}
	type visit struct{ node, cluster int }
	stack := []visit{{2*t.n - 2, 0}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		m := t.merges[v.node-t.n]
		lambda := 1 / max(m.height, floor)
		sides := [2]int{m.b, m.a}
		split := t.size(m.a) >= h.MinClusterSize && t.size(m.b) >= h.MinClusterSize
		for _, s := range sides {
			if split || t.size(s) < h.MinClusterSize { // these objects leave here
				c.stability[v.cluster] += float64(t.size(s)) * (lambda - c.birth[v.cluster])
			}
			switch {
			case split:
				stack = append(stack, visit{s, c.add(v.cluster, lambda)})
			case t.size(s) >= h.MinClusterSize:
				stack = append(stack, visit{s, v.cluster})
			default:
				for _, x := range t.members(s) {
					c.last[x] = v.cluster
				}
			}
		}
	}
	return c
}

// add appends a cluster and returns its number.
func (c *condensed) add(parent int, birth float64) int {
	c.parent, c.birth = append(c.parent, parent), append(c.birth, birth)
	c.stability, c.selected = append(c.stability, 0), append(c.selected, false)
	return len(c.parent) - 1
}

// selectStable chooses, from the leaves up, a cluster where it is more stable
// than the best choice below it; ties go to the cluster above. The root takes
// part only if allowed.
func (c *condensed) selectStable(root bool) {
	below := make([]float64, len(c.parent)) // best total of the clusters chosen under each
	chosen := make([]bool, len(c.parent))
	for k := len(c.parent) - 1; k >= 0; k-- {
		best := below[k]
		if (k > 0 || root) && c.stability[k] >= below[k] {
			chosen[k], best = true, c.stability[k]
		}
		if k > 0 {
			below[c.parent[k]] += best
		}
	}
	inside := make([]bool, len(c.parent)) // below a selected cluster
	for k := range c.parent {
		if k > 0 {
			p := c.parent[k]
			inside[k] = inside[p] || c.selected[p]
		}
		c.selected[k] = chosen[k] && !inside[k]
	}
}

// labels puts each object into the selected cluster at or above its last one.
func (c *condensed) labels() Labels {
	raw := make([]int, len(c.last))
	for x, k := range c.last {
		for k >= 0 && !c.selected[k] {
			k = c.parent[k]
		}
		raw[x] = k // -1 above the root: noise
	}
	return Relabel(raw)
}
