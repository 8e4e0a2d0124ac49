package placement

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
)

// Rules say what each of the four rules, in their order, looks at, and what it goes by in a network: such as "cores that
// share a cache: 2 groups of up to 4". A rule that has nothing to go by does nothing, and says what it wants. O(places * levels).
func (Servet) Rules(n *model.Network) []string {
	var near, ways string
	if lowest, highest := latencyRange(n); lowest*significant < highest {
		near = "latencies up to " + quantity.Seconds(highest)
	}
	if _, perHost := accessDomains(n); perHost > 0 {
		ways = fmt.Sprintf("%s of each host to the network", words.Count(perHost, "way"))
	}
	var rules []string
	for _, x := range []struct{ name, goesBy, wants string }{
		{"cores that share a cache", describe(caches(n)), "which ranks share caches: measured with them, or told by hwloc"},
		{"cores that share a path to memory", describe(memory(n)), "which ranks share memory: measured with them, or told by hwloc"},
		{"cores that are near", near, fmt.Sprintf("latencies that differ by more than a factor of %g", significant)},
		{"cores that share the way to the network", ways, "how processes of a host slow each other down: the ratios of the degradation"},
	} {
		if x.goesBy == "" {
			x.goesBy = "does nothing: it wants " + x.wants
		}
		rules = append(rules, x.name+": "+x.goesBy)
	}
	return rules
}

// describe counts groups of at least two places; "" if there are none.
func describe(levels [][]int) string {
	var groups []string
	for _, group := range levels {
		members := make(map[int]int)
		for _, g := range group {
			if g >= 0 {
				members[g]++
			}
		}
		n, most := 0, 0
		for _, m := range members {
			if m > 1 {
				n++
			}
			most = max(most, m)
		}
		if n > 0 {
			groups = append(groups, fmt.Sprintf("%s of up to %d", words.Count(n, "group"), most))
		}
	}
	return words.Few(slices.Compact(groups), 4)
}
