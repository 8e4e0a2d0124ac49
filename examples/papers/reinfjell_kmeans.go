package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology/cluster"
)

// kMeans splits ranks into k clusters so that their profiles lie as close as possible to the means of their
// clusters (Reinfjell 2023, section 2.5.4; Lloyd 1982). Starts are those of k-means++ (Arthur and
// Vassilvitskii 2007). Of several starts the one of the least sum of squares counts.
//
// Profiles have missing entries: a rank has no parameters to itself. Distances to a mean are those in
// the entries that both have, scaled up for the others.
type kMeans struct{ k int }

// The passes of kMeans end by themselves. The limit is for ties that turn round.
const (
	kMeansStarts = 4
	kMeansPasses = 100
)

// Cluster returns the k clusters. O(n k) profiles per pass, some ten passes per start.
func (m kMeans) Cluster(d mat.Symmetric) (cluster.Labels, error) {
	profiles, ok := d.(*plogp.Profiles)
	if !ok {
		return nil, fmt.Errorf("k-means: want profiles, not distances alone")
	}
	points := profiles.Vectors
	if m.k < 1 || m.k > len(points) {
		return nil, fmt.Errorf("k-means: %d clusters of %d profiles: want 1 to as many", m.k, len(points))
	}
	rng := rand.New(rand.NewPCG(0, 0))
	var best []int
	least := math.Inf(1)
	for range kMeansStarts {
		c := newCentres(points, m.k, rng)
		if sum := c.settle(); best == nil || sum < least {
			best, least = c.nearest, sum
		}
	}
	return cluster.Relabel(best), nil
}

// squared is the squared distance of two points in the entries that both have, scaled up for the others. It is
// infinite without a common entry.
func squared(x, y []float64) float64 {
	var sum float64
	common := 0
	for k, a := range x {
		if diff := a - y[k]; !math.IsNaN(diff) {
			sum += diff * diff
			common++
		}
	}
	if common == 0 {
		return math.Inf(1)
	}
	return sum * float64(len(x)) / float64(common)
}

// centres are the means of clusters, and for each point which is nearest and how far.
type centres struct {
	points  [][]float64
	means   [][]float64
	nearest []int
	away    []float64 // squared
}

// newCentres starts with k of the points. Each is drawn with a probability that grows with the squared
// distance from those before.
func newCentres(points [][]float64, k int, rng *rand.Rand) *centres {
	c := &centres{points: points, nearest: make([]int, len(points)), away: make([]float64, len(points))}
	for i := range c.away {
		c.away[i] = math.Inf(1)
	}
	next := rng.IntN(len(points))
	for range k {
		c.means = append(c.means, slices.Clone(points[next]))
		c.away[next] = 0
		var total float64
		for i, p := range points {
			c.away[i] = min(c.away[i], squared(p, points[next]))
			if !math.IsInf(c.away[i], 1) {
				total += c.away[i]
			}
		}
		next = drawn(c.away, total*rng.Float64(), next)
	}
	return c
}

// drawn returns the index at which the running sum of finite values passes at; the one given if none does.
func drawn(values []float64, at float64, none int) int {
	for i, v := range values {
		if !math.IsInf(v, 1) && v > 0 {
			none = i
			if at -= v; at < 0 {
				break
			}
		}
	}
	return none
}

// settle moves points and means until no point changes its cluster, and returns the sum of squares. A cluster
// that loses all its points takes the one that is farthest from its mean.
func (c *centres) settle() float64 {
	for pass := range kMeansPasses {
		if !c.assign() && pass > 0 {
			break
		}
		c.fillEmpty()
		c.average()
	}
	var sum float64
	for _, v := range c.away {
		sum += v
	}
	return sum
}

// assign finds the nearest mean of each point. Ties keep the cluster, or go to the first. It tells whether a
// point has moved.
func (c *centres) assign() bool {
	moved := false
	for i, p := range c.points {
		own := c.nearest[i]
		c.away[i] = squared(p, c.means[own])
		for k, mean := range c.means {
			if v := squared(p, mean); v < c.away[i] {
				c.nearest[i], c.away[i] = k, v
			}
		}
		moved = moved || c.nearest[i] != own
	}
	return moved
}

func (c *centres) fillEmpty() {
	size := make([]int, len(c.means))
	for _, k := range c.nearest {
		size[k]++
	}
	for k := range size {
		if size[k] > 0 {
			continue
		}
		far := -1
		for i, own := range c.nearest {
			if size[own] > 1 && (far < 0 || c.away[i] > c.away[far]) {
				far = i
			}
		}
		size[c.nearest[far]]--
		c.nearest[far], c.away[far], size[k] = k, 0, 1
	}
}

// average makes the means of what their points have. An entry that none has is missing.
func (c *centres) average() {
	count := make([]float64, len(c.points[0]))
	for k, mean := range c.means {
		clear(mean)
		clear(count)
		for i, p := range c.points {
			if c.nearest[i] != k {
				continue
			}
			for e, v := range p {
				if !math.IsNaN(v) {
					mean[e] += v
					count[e]++
				}
			}
		}
		for e := range mean {
			mean[e] /= count[e] // 0/0 is NaN
		}
	}
}
