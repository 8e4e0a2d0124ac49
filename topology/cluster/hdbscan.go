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

// A Condensed tree says for each of its clusters how long it lived. Densities
// are lambda = 1/distance. Cluster 0 is the root, parents come before children.
type Condensed struct {
	Parent    []int     // of each cluster; -1 for the root
	Birth     []float64 // lambda at which the cluster split off; 0 for the root
	Size      []int     // objects at its birth
	Stability []float64 // sum over its objects of (lambda at which they leave it - Birth)
	Selected  []bool    // chosen as a flat cluster

	Last  []int     // per object: the last cluster that it belongs to
	Leave []float64 // per object: lambda at which it leaves that cluster
}

// Cluster returns the selected clusters; objects in none are noise.
func (h HDBSCAN) Cluster(d *Distances) (Labels, error) {
	labels, _, _, err := h.Fit(d)
	return labels, err
}

// Fit returns the flat clusters, each object's probability of belonging to
// its cluster - lambda at which it leaves, over the largest of the cluster, 0
// for noise -, and the condensed tree.
func (h HDBSCAN) Fit(d *Distances) (Labels, []float64, *Condensed, error) {
	if h.MinClusterSize == 0 {
		h.MinClusterSize = 2
	}
	if h.MinSamples == 0 {
		h.MinSamples = 1
	}
	if h.MinClusterSize < 2 || h.MinSamples < 1 {
		return nil, nil, nil, fmt.Errorf("cluster: HDBSCAN: MinClusterSize = %d, MinSamples = %d: want at least 2 and 1", h.MinClusterSize, h.MinSamples)
	}
	t := fromTree(d.n, spanningTree(d.n, d.row, d.kth(h.MinSamples)))
	c := h.condense(t)
	c.selectStable(h.AllowSingle)
	labels, probability := c.flat()
	return labels, probability, c, nil
}

// condense walks down from the root. A split into two clusters of at least
// MinClusterSize makes two new clusters; otherwise the objects of the small
// side fall out, and the large side goes on as the same cluster.
func (h HDBSCAN) condense(t *Dendrogram) *Condensed {
	c := &Condensed{Last: make([]int, t.n), Leave: make([]float64, t.n)}
	if t.n == 0 {
		return c
	}
	c.add(-1, 0, t.n)
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
	type visit struct{ node, cluster int }
	stack := []visit{{2*t.n - 2, 0}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		m := t.merges[v.node-t.n]
		lambda := 1 / max(m.Height, floor)
		sides := [2]int{m.B, m.A}
		split := t.size(m.A) >= h.MinClusterSize && t.size(m.B) >= h.MinClusterSize
		for _, s := range sides {
			if split || t.size(s) < h.MinClusterSize { // these objects leave here
				c.Stability[v.cluster] += float64(t.size(s)) * (lambda - c.Birth[v.cluster])
			}
			switch {
			case split:
				stack = append(stack, visit{s, c.add(v.cluster, lambda, t.size(s))})
			case t.size(s) >= h.MinClusterSize:
				stack = append(stack, visit{s, v.cluster})
			default:
				for _, x := range t.members(s) {
					c.Last[x], c.Leave[x] = v.cluster, lambda
				}
			}
		}
	}
	return c
}

// add appends a cluster and returns its number.
func (c *Condensed) add(parent int, birth float64, size int) int {
	c.Parent = append(c.Parent, parent)
	c.Birth = append(c.Birth, birth)
	c.Size = append(c.Size, size)
	c.Stability = append(c.Stability, 0)
	c.Selected = append(c.Selected, false)
	return len(c.Parent) - 1
}

// selectStable chooses, from the leaves up, a cluster where it is more stable
// than the best choice below it; ties go to the cluster above. The root takes
// part only if allowed.
func (c *Condensed) selectStable(root bool) {
	below := make([]float64, len(c.Parent)) // best total of the clusters chosen under each
	chosen := make([]bool, len(c.Parent))
	for k := len(c.Parent) - 1; k >= 0; k-- {
		best := below[k]
		if (k > 0 || root) && c.Stability[k] >= below[k] {
			chosen[k], best = true, c.Stability[k]
		}
		if k > 0 {
			below[c.Parent[k]] += best
		}
	}
	inside := make([]bool, len(c.Parent)) // below a selected cluster
	for k := range c.Parent {
		if k > 0 {
			p := c.Parent[k]
			inside[k] = inside[p] || c.Selected[p]
		}
		c.Selected[k] = chosen[k] && !inside[k]
	}
}

// flat reads labels and probabilities off the selection.
func (c *Condensed) flat() (Labels, []float64) {
	home := make([]int, len(c.Parent)) // the selected cluster at or above each
	for k := range home {
		switch {
		case c.Selected[k]:
			home[k] = k
		case k > 0:
			home[k] = home[c.Parent[k]]
		default:
			home[k] = Noise
		}
	}
	raw, most := make([]int, len(c.Last)), make([]float64, len(c.Parent))
	// An object may leave its home by a split, before it leaves its last cluster.
	leave := make([]float64, len(c.Last))
	for x, k := range c.Last {
		raw[x], leave[x] = home[k], c.Leave[x]
		if home[k] == Noise {
			continue
		}
		for ; k != home[k]; k = c.Parent[k] {
			leave[x] = c.Birth[k]
		}
		most[k] = max(most[k], leave[x])
	}
	probability := make([]float64, len(raw))
	for x, k := range raw {
		if k != Noise {
			probability[x] = 1
			if most[k] > 0 {
				probability[x] = leave[x] / most[k]
			}
		}
	}
	return canonical(raw), probability
}
