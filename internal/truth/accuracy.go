package truth

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/search"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
)

// Matching is the share of objects that are mapped to the correct group
// (Reinfjell 2023, equations 3.7 to 3.9). The thesis leaves open what "mapped to correct" is. Here
// clusters and true groups are matched one to one so that as many
// objects as possible lie in a matched pair (Kuhn 1955). These are counted. Objects that are noise in found are never correct; objects without
// a true group do not count. In [0, 1]; 1 if there is nothing to count. O(k^3)
// for k clusters.
func Matching(found, truth cluster.Labels) float64 {
	overlap := make([][]float64, found.Clusters())
	for i := range overlap {
		overlap[i] = make([]float64, truth.Clusters())
	}
	var total float64
	for i, t := range truth {
		if t == cluster.Noise {
			continue
		}
		total++
		if found[i] != cluster.Noise {
			overlap[found[i]][t]++
		}
	}
	if total == 0 {
		return 1
	}
	return maxAssignment(overlap) / total
}

// maxAssignment is the largest total weight of a one-to-one assignment of rows
// to columns: shortest augmenting paths with potentials (Jonker and Volgenant
// 1987), on the negated weights.
func maxAssignment(w [][]float64) float64 {
	rows := len(w)
	if rows == 0 || len(w[0]) == 0 {
		return 0
	}
	cols := max(rows, len(w[0])) // columns beyond the matrix weigh nothing
	cost := func(i, j int) float64 {
		if j >= len(w[0]) {
			return 0
		}
		return -w[i][j]
	}
	// Rows and columns are numbered from 1; column 0 is the root of a path.
	u, v := make([]float64, rows+1), make([]float64, cols+1)
	match, way := make([]int, cols+1), make([]int, cols+1)
	slack, used := make([]float64, cols+1), make([]bool, cols+1)
	for i := 1; i <= rows; i++ {
		match[0] = i
		for j := range slack {
			slack[j], used[j] = math.Inf(1), false
		}
		at := 0
		for match[at] != 0 {
			used[at] = true
			row, next, delta := match[at], 0, math.Inf(1)
			for j := 1; j <= cols; j++ {
				if used[j] {
					continue
				}
				if r := cost(row-1, j-1) - u[row] - v[j]; r < slack[j] {
					slack[j], way[j] = r, at
				}
				if slack[j] < delta {
					next, delta = j, slack[j]
				}
			}
			for j := range slack {
				if used[j] {
					u[match[j]] += delta
					v[j] -= delta
				} else {
					slack[j] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			match[at] = match[way[at]]
			at = way[at]
		}
	}
	var total float64
	for j := 1; j <= cols; j++ {
		if match[j] != 0 {
			total -= cost(match[j]-1, j-1)
		}
	}
	return total
}

// SetF1 compares two families of groups, as those of two hierarchies. It is the harmonic mean of the share of found groups
// that are true, and of true groups that are found. Groups count only where they are equal. They are given by
// ascending members; equal ones count once. 1 if both are empty.
func SetF1(found, truth [][]int) float64 {
	f, t := distinct(found), distinct(truth)
	if len(f)+len(t) == 0 {
		return 1
	}
	hits := 0
	for _, g := range f {
		if _, ok := slices.BinarySearchFunc(t, g, slices.Compare[[]int]); ok {
			hits++
		}
	}
	return 2 * float64(hits) / float64(len(f)+len(t))
}

func distinct(groups [][]int) [][]int {
	s := slices.Clone(groups)
	slices.SortFunc(s, slices.Compare[[]int])
	return slices.CompactFunc(s, slices.Equal[[]int])
}

// Cuts are the flat clusterings that a hierarchy holds, one per level, fine to coarse, and
// that of one cluster last (Reinfjell 2023, section 2.5.7). A cut's clusters are
// the largest groups of its level and finer ones; hosts in none are clusters of their own.
func Cuts(h *topology.Hierarchy) []cluster.Labels {
	var cuts []cluster.Labels
	groups := h.Groups() // parents before children
	for level := range len(h.Levels()) + 1 {
		raw := make([]int, h.Hosts())
		for x := range raw {
			raw[x] = len(groups) + x
			for g := h.Smallest(x); g >= 0 && groups[g].Level <= level; g = groups[g].Parent {
				raw[x] = g
			}
		}
		cuts = append(cuts, cluster.Relabel(raw))
	}
	return cuts
}

// Best is the clustering of the highest score, the first of equal ones. It is nil if there is none.
func Best(clusterings []cluster.Labels, score func(cluster.Labels) float64) (best cluster.Labels, highest float64) {
	highest = math.Inf(-1)
	for _, l := range clusterings {
		if s := score(l); best == nil || s > highest {
			best, highest = l, s
		}
	}
	return best, highest
}

// Accuracy is the score of equation 3.10: the largest share of objects in their true groups (Matching) over the values
// of the parameter. Static methods are told the number of groups instead (section 3.2).
func Accuracy(f *search.Family, d mat.Symmetric, truth cluster.Labels) (search.Found, error) {
	if !f.Static {
		return f.Search(d, func(_ cluster.Clusterer, l cluster.Labels) float64 { return Matching(l, truth) })
	}
	k := float64(truth.Clusters())
	labels, err := f.At(k).Cluster(d)
	if err != nil {
		return search.Found{}, err
	}
	return search.Found{Value: k, Labels: labels, Score: Matching(labels, truth), Tried: 1}, nil
}
