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
// than the links above. It returns how many links (an arc and its opposite are
// one) are estimated in all.
func estimate(arcs []topology.Arc, level []int, bandwidth []float64) (links int) {
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
	seen := make(map[[2]int]bool)
	for i := range arcs {
		a := &arcs[i]
		if math.IsNaN(a.Bandwidth) && !math.IsNaN(rate[level[i]]) {
			a.Bandwidth, a.Estimated = rate[level[i]], true
		}
		if a.Estimated {
			seen[[2]int{min(a.From, a.To), max(a.From, a.To)}] = true
		}
	}
	return len(seen)
}

// estimateWarning says how many links are estimated; "" if none is.
func estimateWarning(estimated, links int) string {
	if estimated == 0 {
		return ""
	}
	return fmt.Sprintf("the bandwidths of %d of %d links were not measured: each is taken to be typical of its level", estimated, links)
}
