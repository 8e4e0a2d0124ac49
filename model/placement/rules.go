package placement

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
)

// A Rule is one of the four by which Servet places.
type Rule struct {
	Name   string // what it looks at
	GoesBy string // what the network knows of that; "": nothing, and the rule changes no weight
	Wants  string // what would tell it
}

// Rules say what each of the four rules, in their order, has to go by in a network: those that go by
// nothing change nothing. O(places * levels).
func (Servet) Rules(n *model.Network) []Rule {
	rules := []Rule{
		{Name: "cores that share a cache", Wants: "which ranks share caches: measured with them, or told by hwloc"},
		{Name: "cores that share a path to memory", Wants: "which ranks share memory: measured with them, or told by hwloc"},
		{Name: "cores that are near", Wants: fmt.Sprintf("latencies that differ by more than a factor of %g", significant)},
		{Name: "cores that share the way to the network", Wants: "how processes of a host slow each other down: the ratios of the degradation"},
	}
	rules[0].GoesBy, rules[1].GoesBy = describe(caches(n)), describe(memory(n))
	if lowest, highest := latencyRange(n); lowest*significant < highest {
		rules[2].GoesBy = "latencies up to " + quantity.Seconds(highest)
	}
	if _, perHost := accessDomains(n); perHost > 0 {
		rules[3].GoesBy = fmt.Sprintf("%s of each host to the network", words.Count(perHost, "way"))
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
