package cluster

import (
	"math"
	"slices"
)

// Matching is the share of objects that are mapped to the correct group
// (Reinfjell 2023, equations 3.7 to 3.9, where "mapped to correct" is left
// open): clusters and true groups are matched one to one so that as many
// objects as possible lie in a matched pair (Kuhn 1955), and these are
// counted. Objects that are noise in found are never correct; objects without
// a true group do not count. In [0, 1]; 1 if there is nothing to count. O(k^3)
// for k clusters.
func Matching(found, truth Labels) float64 {
	overlap := make([][]float64, found.Clusters())
	for i := range overlap {
		overlap[i] = make([]float64, truth.Clusters())
	}
	var total float64
	for i, t := range truth {
		if t == Noise {
			continue
		}
		total++
		if found[i] != Noise {
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

// AdjustedRand is the Rand index of two clusterings, corrected for chance
// (Hubert and Arabie 1985): 1 for equal ones, 0 expected for random ones. Noise
// objects count as clusters of their own. O(n + k1 k2).
func AdjustedRand(a, b Labels) float64 {
	a, b = solitary(a), solitary(b)
	type cell struct{ i, j int }
	joint := make(map[cell]float64)
	rows, cols := make([]float64, a.Clusters()), make([]float64, b.Clusters())
	for x := range a {
		joint[cell{a[x], b[x]}]++
		rows[a[x]]++
		cols[b[x]]++
	}
	pairs := func(n float64) float64 { return n * (n - 1) / 2 }
	var both, inA, inB float64 // sums of whole numbers: any order gives the same
	for _, n := range joint {
		both += pairs(n)
	}
	for _, n := range rows {
		inA += pairs(n)
	}
	for _, n := range cols {
		inB += pairs(n)
	}
	all := pairs(float64(len(a)))
	if all == 0 {
		return 1
	}
	expected := inA * inB / all
	if most := (inA + inB) / 2; most != expected {
		return (both - expected) / (most - expected)
	}
	return 1 // both are one cluster, or all singletons: equal
}

// solitary gives every noise object a cluster of its own.
func solitary(l Labels) Labels {
	out := slices.Clone(l)
	next := l.Clusters()
	for i, c := range out {
		if c == Noise {
			out[i] = next
			next++
		}
	}
	return out
}

// SetF1 compares two families of groups, as those of two hierarchies: the
// harmonic mean of the share of found groups that are true and of true groups
// that are found, groups counting only where they are equal. Groups are given
// by ascending members; equal ones count once. 1 if both are empty.
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
