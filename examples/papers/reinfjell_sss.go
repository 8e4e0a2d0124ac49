package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
)

// An sssTree nests the clusters of sparse spatial selection (Reinfjell 2023, section 2.5.3 and figure 2.5, after
// Brisaboa et al. 2007). Each cluster is split again by its own radius while it has three ranks or more.
//
// To split, the first rank is a centre. Every further one joins the closest centre, or becomes a centre if that is
// at least alpha*M away, M being twice the radius around the first. The result depends on the order of the
// ranks. Of several orders, the given one first, that of the highest silhouette counts.
//
// As a Clusterer it is the cut of the highest score.
type sssTree struct {
	alpha  float64
	orders int
	score  func(cluster.Labels) float64
}

// fewestToSplit are a pair and one more: fewer ranks hold no group to be split off.
const fewestToSplit = 3

// Cluster returns the cut of the highest score. Ties go to the finer one.
func (t sssTree) Cluster(d mat.Symmetric) (cluster.Labels, error) {
	h, err := t.hierarchy(d)
	if err != nil {
		return nil, err
	}
	labels, _ := truth.Best(truth.Cuts(h), t.score)
	return labels, nil
}

// hierarchy returns the nested groups. A group's level is its distance in splits from the deepest cluster
// below. Latencies are means of the distances between its children.
func (t sssTree) hierarchy(d mat.Symmetric) (*topology.Hierarchy, error) {
	var groups []topology.Group
	_, latency := t.split(d, inOrder(d.SymmetricDim()), rand.New(rand.NewPCG(0, 0)), &groups)
	return topology.NewHierarchy(d.SymmetricDim(), topology.NewLevels(groups), groups, latency)
}

// split adds the groups below members and returns how many levels they have, and the mean distance between the
// children of members.
func (t sssTree) split(d mat.Symmetric, members []int, rng *rand.Rand, groups *[]topology.Group) (depth int, latency float64) {
	labels := make(cluster.Labels, len(members)) // one cluster: leave it whole
	if len(members) >= fewestToSplit {
		var part mat.SymDense
		part.SubsetSym(d, members)
		labels = t.best(&part, rng)
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
			*groups = append(*groups, topology.Group{Hosts: own, Level: below, Latency: l, Confidence: math.NaN()})
			depth = max(depth, below+1)
		}
	} else {
		labels = inOrder(len(members)) // every rank is a child of its own
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

// best returns the clustering of the highest silhouette. Ties go to the first order.
func (t sssTree) best(d mat.Symmetric, rng *rand.Rand) cluster.Labels {
	order := inOrder(d.SymmetricDim())
	var labels cluster.Labels
	score := math.Inf(-1)
	for range t.orders {
		l := t.once(d, order)
		if v := cluster.Silhouette(d, l); labels == nil || v > score {
			labels, score = l, v
		}
		order = rng.Perm(d.SymmetricDim())
	}
	return labels
}

// once runs the selection in the given order.
func (t sssTree) once(d mat.Symmetric, order []int) cluster.Labels {
	raw := make([]int, len(order))
	var radius float64
	for _, x := range order {
		radius = max(radius, d.At(order[0], x))
	}
	limit := t.alpha * 2 * radius
	centres := order[:1:1]
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
	return cluster.Relabel(raw)
}
