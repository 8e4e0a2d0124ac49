package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/topocast/topocast/topology"
)

// SSS is clustering by sparse spatial selection (Reinfjell 2023, section
// 2.5.3, after Brisaboa et al. 2007): the first object is a centre; every
// further one joins the closest centre, or becomes one itself if that is at
// least Alpha*M away, M being twice the radius around the first. The result
// depends on the order of the objects; of Restarts random orders (the first
// being the given one) the clustering of highest silhouette is kept. O(n k)
// per restart for k clusters, and O(n^2) for the silhouette.
type SSS struct {
	Alpha    float64 // above 0; 0: 0.4
	Restarts int     // 0: 8
	Seed     uint64  // of the orders
}

var _ Clusterer = SSS{}

// Defaults of SSS and SSSTree. Alpha is from Brisaboa et al. 2007, who found the best
// between 0.35 and 0.4; from 0.5 on the limit is the diameter itself. Restarts matter where groups are unlike.
const (
	usualAlpha    = 0.4
	usualRestarts = 8
	leastChildren = 3 // a pair and one more: fewer hold no group to be split off
)

// Cluster returns the clusters.
func (s SSS) Cluster(d *Distances) (Labels, error) {
	s, err := s.defaults()
	if err != nil {
		return nil, err
	}
	return s.best(d, rand.New(rand.NewPCG(s.Seed, 0))), nil
}

func (s SSS) defaults() (SSS, error) {
	if s.Alpha == 0 {
		s.Alpha = usualAlpha
	}
	if s.Restarts == 0 {
		s.Restarts = usualRestarts
	}
	if !(s.Alpha > 0) || s.Restarts < 1 {
		return s, fmt.Errorf("cluster: SSS: Alpha = %g, Restarts = %d: want above 0 and at least 1", s.Alpha, s.Restarts)
	}
	return s, nil
}

// best returns the clustering of highest silhouette; ties go to the first.
func (s SSS) best(d *Distances, rng *rand.Rand) Labels {
	order := make([]int, d.n)
	for i := range order {
		order[i] = i
	}
	var labels Labels
	score := math.Inf(-1)
	for range s.Restarts {
		l := s.once(d, order)
		if v := Silhouette(d, l); labels == nil || v > score {
			labels, score = l, v
		}
		order = rng.Perm(d.n)
	}
	return labels
}

// once runs the selection in the given order.
func (s SSS) once(d *Distances, order []int) Labels {
	raw := make([]int, d.n)
	if d.n == 0 {
		return raw
	}
	var radius float64
	for _, v := range d.row(order[0]) {
		radius = max(radius, v)
	}
	limit := s.Alpha * 2 * radius
	centres := order[:1:1]
	raw[order[0]] = 0
	for _, x := range order[1:] {
		closest := 0
		for c, y := range centres {
			if d.At(x, y) < d.At(x, centres[closest]) {
				closest = c
			}
		}
		if limit > 0 && d.At(x, centres[closest]) >= limit {
			closest = len(centres)
			centres = append(centres, x)
		}
		raw[x] = closest
	}
	return canonical(raw)
}

// SSSTree nests the clusters of SSS: each is split again by its own radius
// while it has at least MinChildren objects (Reinfjell 2023, figure 2.5).
type SSSTree struct {
	SSS
	MinChildren int // 0: 3
}

// Hierarchy returns the nested groups. A group's level is its distance in
// splits from the deepest cluster below; latencies are means of the distances
// between its children. Supports are NaN.
func (t SSSTree) Hierarchy(d *Distances) (*topology.Hierarchy, error) {
	s, err := t.defaults()
	if err != nil {
		return nil, err
	}
	t.SSS = s
	if t.MinChildren == 0 {
		t.MinChildren = leastChildren
	}
	if t.MinChildren < leastChildren {
		return nil, fmt.Errorf("cluster: SSSTree: MinChildren = %d: want at least %d", t.MinChildren, leastChildren)
	}
	all := make([]int, d.n)
	for i := range all {
		all[i] = i
	}
	var groups []topology.Group
	rng := rand.New(rand.NewPCG(t.Seed, 0))
	depth, latency := t.split(d, all, rng, &groups)
	var levels []topology.Level
	for l := range depth {
		var sum, count float64
		for _, g := range groups {
			if g.Level == l {
				sum, count = sum+g.Latency, count+1
			}
		}
		levels = append(levels, topology.Level{Name: fmt.Sprintf("level %d", l+1), Latency: sum / count, Support: math.NaN()})
	}
	return topology.NewHierarchy(d.n, levels, groups, latency)
}

// split adds the groups below members and returns how many levels they have,
// and the mean distance between the children of members.
func (t SSSTree) split(d *Distances, members []int, rng *rand.Rand, groups *[]topology.Group) (depth int, latency float64) {
	labels := make(Labels, len(members)) // one cluster: leave it whole
	if len(members) >= t.MinChildren {
		labels = t.best(d.part(members), rng)
	}
	if parts := labels.Groups(); len(parts) > 1 && len(parts) < len(members) {
		for _, part := range parts {
			if len(part) < 2 {
				continue
			}
			own := make([]int, len(part))
			for i, x := range part {
				own[i] = members[x]
			}
			below, l := t.split(d, own, rng, groups)
			*groups = append(*groups, topology.Group{Hosts: own, Level: below, Latency: l, Support: math.NaN()})
			depth = max(depth, below+1)
		}
	} else {
		for i := range labels {
			labels[i] = i // every object is a child of its own
		}
	}
	var sum, count float64
	for a, x := range members {
		for b, y := range members[:a] {
			if labels[a] != labels[b] {
				sum, count = sum+d.At(x, y), count+1
			}
		}
	}
	return depth, sum / count
}
