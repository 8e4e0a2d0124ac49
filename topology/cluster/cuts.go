package cluster

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// Cuts are the flat clusterings that a hierarchy holds, one per level, fine to coarse, and
// that of one cluster last (Reinfjell 2023, section 2.5.7). A cut's clusters are
// the largest groups of its level and finer ones; hosts in none are clusters of their own.
func Cuts(h *topology.Hierarchy) []Labels {
	var cuts []Labels
	groups := h.Groups() // parents before children
	for level := range len(h.Levels()) + 1 {
		raw := make([]int, h.Hosts())
		for x := range raw {
			raw[x] = len(groups) + x
			for g := h.Smallest(x); g >= 0 && groups[g].Level <= level; g = groups[g].Parent {
				raw[x] = g
			}
		}
		cuts = append(cuts, Relabel(raw))
	}
	return cuts
}

// Best is the clustering of the highest score, the first of equal ones. It is nil if there is none.
func Best(clusterings []Labels, score func(Labels) float64) (best Labels, highest float64) {
	highest = math.Inf(-1)
	for _, l := range clusterings {
		if s := score(l); best == nil || s > highest {
			best, highest = l, s
		}
	}
	return best, highest
}

// Timed is the result for groups that were found on other distances than times, such as profiles:
// latencies of groups and levels are medians of the given ones, in s, whose repetitions count as in
// Flat.Reconstruct, but pairs may be missing (NaN). Supports and kinds are kept. A group without a measured pair has that of the hierarchy. O(n^2).
func Timed(h *topology.Hierarchy, repetitions ...mat.Matrix) (*topology.Result, error) {
	d, warnings, err := combine(true, repetitions)
	if err != nil {
		return nil, err
	}
	times := make([][]float64, len(h.Groups()))
	for i := range d.n {
		for j, v := range d.row(i)[:i] {
			if g := h.Common(i, j); !math.IsNaN(v) {
				times[g] = append(times[g], v)
			}
		}
	}
	groups := make([]topology.Group, len(times))
	byLevel := make([][]float64, len(h.Levels())+1)
	for g := range groups {
		groups[g] = h.Groups()[g]
		if len(times[g]) > 0 {
			groups[g].Latency = stats.Median(times[g])
			byLevel[groups[g].Level] = append(byLevel[groups[g].Level], groups[g].Latency)
		}
	}
	levels := make([]topology.Level, len(h.Levels()))
	for l := range levels {
		if levels[l] = h.Levels()[l]; len(byLevel[l]) > 0 {
			levels[l].Latency = stats.Median(byLevel[l])
		}
	}
	timed, err := topology.NewHierarchy(h.Hosts(), levels, groups[1:], groups[0].Latency)
	if err != nil {
		return nil, err
	}
	return d.result(timed, warnings)
}
