package cluster

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// DBSCAN grows clusters from objects that have at least MinPoints objects,
// themselves included, within Eps (Ester et al. 1996). Objects that no such
// core reaches are noise. Border objects go to the first cluster that reaches
// them, in the order of the objects. O(n^2).
//
// With MinPoints 1 every object is a core. The clusters are then the connected components of the graph that joins all
// objects at most Eps apart (Reinfjell 2023): single linkage, cut at that height.
type DBSCAN struct {
	Eps       float64 // in the unit of the distances; 0: the knee of the sorted distances to the (MinPoints-1)-th neighbour
	MinPoints int     // 0: 3
}

var _ Clusterer = DBSCAN{}

// usualMinPoints is the default of DBSCAN.MinPoints: with two every close pair is a
// core, and clusters follow chains of noise. Ester et al. take 4 for points in a
// plane; machines have groups of three.
const usualMinPoints = 3

// Cluster returns the clusters and noise.
func (c DBSCAN) Cluster(s mat.Symmetric) (Labels, error) {
	d := rowsOf(s)
	if c.MinPoints == 0 {
		c.MinPoints = usualMinPoints
	}
	if c.MinPoints < 1 || !(c.Eps >= 0) {
		return nil, fmt.Errorf("cluster: DBSCAN: Eps = %g, MinPoints = %d: want Eps at least 0 and MinPoints at least 1", c.Eps, c.MinPoints)
	}
	if c.Eps == 0 {
		c.Eps = knee(d.kth(max(1, c.MinPoints-1)))
	}
	core := make([]bool, d.n)
	for i := range d.n {
		count := 0
		for _, v := range d.row(i) { // the object itself is at 0
			if v <= c.Eps {
				count++
			}
		}
		core[i] = count >= c.MinPoints
	}
	raw := make([]int, d.n)
	for i := range raw {
		raw[i] = Noise
	}
	clusters := 0
	var queue []int
	for i := range d.n {
		if !core[i] || raw[i] != Noise {
			continue
		}
		raw[i] = clusters
		queue = append(queue[:0], i)
		for len(queue) > 0 {
			x := queue[0]
			queue = queue[1:]
			for j, v := range d.row(x) {
				if v > c.Eps || raw[j] != Noise {
					continue
				}
				raw[j] = clusters
				if core[j] {
					queue = append(queue, j)
				}
			}
		}
		clusters++
	}
	return Relabel(raw), nil
}

// knee is the value farthest below the chord from the smallest to the largest
// one, in ranks and values scaled to 1 (Satopaa et al. 2011, "Finding a
// 'kneedle' in a haystack", for a convex curve without smoothing).
func knee(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	low, high := v[0], v[len(v)-1]
	if high <= low {
		return high
	}
	best, at := -1.0, high
	for i, x := range v {
		below := float64(i)/float64(len(v)-1) - (x-low)/(high-low)
		if below > best {
			best, at = below, x
		}
	}
	return at
}
