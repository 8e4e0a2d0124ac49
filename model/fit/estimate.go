package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// estimate gives arcs without a bandwidth that of their level in B/s, and marks
// them. A level of unknown bandwidth takes that of the next coarser one that
// has one, or of the next finer one: what has to carry more is seldom slower
// than the links above.
func estimate(arcs []topology.Arc, level []int, bandwidth []float64) {
	rate := slices.Clone(bandwidth)
	for i := len(rate) - 2; i >= 0; i-- {
		if math.IsNaN(rate[i]) {
			rate[i] = rate[i+1]
		}
	}
	for i := 1; i < len(rate); i++ {
		if math.IsNaN(rate[i]) {
			rate[i] = rate[i-1]
		}
	}
	for i := range arcs {
		a := &arcs[i]
		if math.IsNaN(a.Bandwidth) && !math.IsNaN(rate[level[i]]) {
			a.Bandwidth, a.Estimated = rate[level[i]], true
		}
	}
}

// estimateWarning says how many links of a graph are estimated, where an arc and its opposite are one; "" if none is.
func estimateWarning(g *topology.Graph) string {
	links, estimated := 0, 0
	for i, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		if back >= 0 && back < i {
			continue // counted
		}
		links++
		if a.Estimated || back >= 0 && g.Arcs()[back].Estimated {
			estimated++
		}
	}
	if estimated == 0 {
		return ""
	}
	return fmt.Sprintf("the bandwidths of %d of %d links were not measured: each is taken to be typical of its level, or what it carried if that is more", estimated, links)
}
