package cluster

import "gonum.org/v1/gonum/mat"

// Labels is a flat clustering: the number of each object's cluster, -1 for an
// object in none (noise). Labels are canonical: clusters are 0, 1, ... in the
// order of their smallest members.
type Labels []int

// Noise is the label of objects in no cluster.
const Noise = -1

// A Clusterer makes a flat clustering of objects by their distances, as NewDistances has them.
type Clusterer interface {
	// Cluster groups the objects. Settings that do not fit the distances are
	// an error. No objects give no labels.
	Cluster(d mat.Symmetric) (Labels, error)
}

// Relabel makes canonical labels of any numbers, negative ones being noise.
func Relabel(raw []int) Labels {
	number := make(map[int]int)
	out := make(Labels, len(raw))
	for i, r := range raw {
		if r < 0 {
			out[i] = Noise
			continue
		}
		k, ok := number[r]
		if !ok {
			k = len(number)
			number[r] = k
		}
		out[i] = k
	}
	return out
}

// Clusters is the number of clusters.
func (l Labels) Clusters() int {
	k := 0
	for _, c := range l {
		k = max(k, c+1)
	}
	return k
}

// Groups returns the members of each cluster, ascending. Noise is in none.
func (l Labels) Groups() [][]int {
	groups := make([][]int, l.Clusters())
	for i, c := range l {
		if c != Noise {
			groups[c] = append(groups[c], i)
		}
	}
	return groups
}
