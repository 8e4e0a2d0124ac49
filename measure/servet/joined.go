package servet

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
)

// pairsOf lists all pairs of ranks, those that are near by core first: they share most.
func pairsOf(ranks []int) [][2]int {
	var pairs [][2]int
	for apart := 1; apart < len(ranks); apart++ {
		for i := range len(ranks) - apart {
			pairs = append(pairs, [2]int{ranks[i], ranks[i+apart]})
		}
	}
	return pairs
}

// A pairCount counts pairs of ranks of one host.
type pairCount struct {
	pairs   int
	missing int // were not measured
	against int // are in one group by way of others, and do not share themselves
}

// join returns the groups of ranks of a host that pairs join, of two ranks and more. Shares is asked once for each pair: above 0 they
// share something, NaN was not measured.
func (c *pairCount) join(ranks []int, shares func(a, b int) float64) (groups [][]int) {
	group := make(map[int]int) // rank -> the first rank of its group
	for _, rank := range ranks {
		group[rank] = rank
	}
	var apart [][2]int
	for _, p := range pairsOf(ranks) {
		c.pairs++
		switch share := shares(p[0], p[1]); {
		case math.IsNaN(share):
			c.missing++
		case share <= 0:
			apart = append(apart, p)
		default:
			a, b := group[p[0]], group[p[1]]
			for _, rank := range ranks {
				if group[rank] == b {
					group[rank] = a
				}
			}
		}
	}
	members := make(map[int][]int)
	for _, rank := range ranks {
		members[group[rank]] = append(members[group[rank]], rank)
	}
	for _, rank := range ranks {
		if g := members[rank]; len(g) >= 2 {
			groups = append(groups, slices.Sorted(slices.Values(g)))
		}
	}
	for _, p := range apart {
		if group[p[0]] == group[p[1]] {
			c.against++
		}
	}
	return groups
}

// warnings say what is uncertain about what pairs of ranks share.
func (c *pairCount) warnings(kind, what string, stopped harness.Stopped) (warnings []string) {
	switch {
	case stopped != "" && c.pairs == 0:
		warnings = append(warnings, fmt.Sprintf("%s: stopped by the %s before pairs of ranks were measured", kind, stopped))
	case stopped != "":
		warnings = append(warnings, fmt.Sprintf("%s: stopped by the %s: %d of %d pairs of ranks were not measured", kind, stopped, c.missing, c.pairs))
	}
	if c.against > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %d pairs of ranks that share a %s by way of others do not disturb each other", kind, c.against, what))
	}
	return warnings
}
