package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// KMeans splits the objects into K clusters so that their profiles lie as close as
// possible to the means of their clusters (Reinfjell 2023, section 2.5.4; Lloyd
// 1982): the profiles of FromProfiles, or of other distances the rows of the
// matrix. The start is that of k-means++ (Arthur and Vassilvitskii 2007), and of
// Restarts starts the one of the least sum of squares counts.
//
// An object has no distance to itself: the entry is missing, as are those that were not
// measured. Distances to a mean are those in the entries that both have, scaled
// up for the others. O(n K) profiles per pass, some ten passes per start.
type KMeans struct {
	K        int    // clusters, in [1, n]
	Restarts int    // 0: 4
	Seed     uint64 // of the starts
}

var _ Clusterer = KMeans{}

// Defaults of KMeans. Passes end by themselves, and the limit is for ties that turn round.
const (
	usualStarts = 4
	mostPasses  = 100
)

// Cluster returns the K clusters.
func (m KMeans) Cluster(d *Distances) (Labels, error) {
	if m.Restarts == 0 {
		m.Restarts = usualStarts
	}
	if d.n == 0 && m.K == 0 {
		return Labels{}, nil
	}
	if m.K < 1 || m.K > d.n || m.Restarts < 1 {
		return nil, fmt.Errorf("cluster: k-means: K = %d, Restarts = %d: want K in [1, %d], Restarts at least 1", m.K, m.Restarts, d.n)
	}
	rng := rand.New(rand.NewPCG(m.Seed, 0))
	points := d.points()
	var best []int
	least := math.Inf(1)
	for range m.Restarts {
		c := newCentres(points, m.K, rng)
		if sum := c.settle(); best == nil || sum < least {
			best, least = c.nearest, sum
		}
	}
	return canonical(best), nil
}

// points are the profiles of the objects, with NaN for what is missing.
func (d *Distances) points() [][]float64 {
	points := make([][]float64, d.n)
	if d.profiles != nil {
		width := len(d.profiles) / d.n
		for i := range points {
			points[i] = d.profiles[i*width : (i+1)*width]
		}
		return points
	}
	for i := range points {
		points[i] = slices.Clone(d.row(i))
		points[i][i] = math.NaN()
	}
	return points
}

// squared is the squared distance of two points in the entries that both have,
// scaled up for the others; beyond limit it may be any value above. Without a common entry it is
// infinite.
func squared(x, y []float64, limit float64) float64 {
	var sum float64
	common := 0
	for k, a := range x {
		if diff := a - y[k]; !math.IsNaN(diff) {
			sum += diff * diff
			common++
		}
		if sum > limit {
			return sum // scaled up it is larger
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

// newCentres starts with K of the points, each drawn with a probability that grows with
// the squared distance from those before.
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
			if v := squared(p, points[next], c.away[i]); v < c.away[i] {
				c.away[i] = v
			}
			if !math.IsInf(c.away[i], 1) {
				total += c.away[i]
			}
		}
		next = draw(c.away, total*rng.Float64(), next)
	}
	return c
}

// draw returns the index at which the running sum of finite values passes at; the one given if none does.
func draw(values []float64, at float64, none int) int {
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

// settle moves points and means until no point changes its cluster, and returns
// the sum of squares. A cluster that loses all its points takes the one that is farthest from its mean.
func (c *centres) settle() float64 {
	for pass := range mostPasses {
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

// assign finds the nearest mean of each point; ties keep the cluster, or go to the first. It tells
// whether a point has moved.
func (c *centres) assign() bool {
	moved := false
	for i, p := range c.points {
		own := c.nearest[i]
		c.away[i] = squared(p, c.means[own], math.Inf(1))
		for k, mean := range c.means {
			if v := squared(p, mean, c.away[i]); v < c.away[i] {
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

// average makes the means of what their points have; an entry that none has is missing.
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
