package cluster

import (
	"math"

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
