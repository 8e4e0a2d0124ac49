package cluster

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/nnchain"
)

// HDBSCAN finds the clusters that persist longest while the density threshold
// falls (Campello, Moulavi and Sander 2013; Campello et al. 2015): mutual
// reachability, its single-linkage tree, the tree condensed to clusters of at
// least MinClusterSize, and the selection of largest total stability ("excess
// of mass"). O(n^2).
type HDBSCAN struct {
	MinClusterSize int // 0: 2
	MinSamples     int // neighbours that set an object's core distance, the object not counted; 0: 1
}

var _ Clusterer = HDBSCAN{}

// Cluster returns the selected clusters; objects in none are noise.
func (h HDBSCAN) Cluster(s mat.Symmetric) (Labels, error) {
	if h.MinClusterSize == 0 {
		h.MinClusterSize = 2
	}
	if h.MinSamples == 0 {
		h.MinSamples = 1
	}
	if h.MinClusterSize < 2 || h.MinSamples < 1 {
		return nil, fmt.Errorf("cluster: HDBSCAN: MinClusterSize = %d, MinSamples = %d: want at least 2 and 1", h.MinClusterSize, h.MinSamples)
	}
	return h.condense(h.tree(rowsOf(s))).stableLabels(), nil
}

// tree is the single-linkage tree of the mutual reachability.
func (h HDBSCAN) tree(d *distances) *dendrogram {
	return &dendrogram{d.n, nnchain.Label(spanningTree(d, d.kth(h.MinSamples)), d.n)}
}

// A condensed tree says for each of its clusters how long it lived. Densities
// are lambda = 1/distance. Cluster 0 is the root, parents come before children.
type condensed struct {
	parent    []int     // of each cluster; -1 for the root
	birth     []float64 // lambda at which the cluster split off; 0 for the root
	stability []float64 // sum over its objects of (lambda at which they leave it - birth)
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
		if m.Height > 0 {
			floor = min(floor, m.Height/2)
		}
	}
	if math.IsInf(floor, 1) {
		floor = 1
	}
	type visit struct {
		node    int32
		cluster int
	}
	stack := []visit{{int32(2*t.n - 2), 0}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		m := t.merges[int(v.node)-t.n]
		lambda := 1 / max(m.Height, floor)
		split := t.size(m.A) >= h.MinClusterSize && t.size(m.B) >= h.MinClusterSize
		for _, s := range [2]int32{m.B, m.A} {
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
	c.stability = append(c.stability, 0)
	return len(c.parent) - 1
}

// stableLabels chooses, from the leaves up, a cluster where it is more stable than the best choice below it; ties go to the
// cluster above. The root, one cluster of all, is never chosen. Each object is in the outermost chosen cluster that it
// belongs to.
func (c *condensed) stableLabels() Labels {
	below := make([]float64, len(c.parent)) // best total of the clusters chosen under each
	chosen := make([]bool, len(c.parent))
	for k := len(c.parent) - 1; k > 0; k-- {
		chosen[k] = c.stability[k] >= below[k]
		below[c.parent[k]] += max(c.stability[k], below[k])
	}
	raw := make([]int, len(c.last))
	for x, k := range c.last {
		raw[x] = Noise
		for ; k >= 0; k = c.parent[k] {
			if chosen[k] {
				raw[x] = k
			}
		}
	}
	return Relabel(raw)
}
