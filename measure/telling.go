package measure

import (
	"math/rand/v2"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology"
)

const (
	pairsPerLevel = 8                 // of random pairs, at least, so that a level's rate does not hang on one link
	pairTries     = 4 * pairsPerLevel // in levels that have few different pairs, most are drawn again
	singleRanks   = 128               // up to so many ranks, each rank's own link is measured, too
)

// telling picks the pairs whose rates tell most of a machine, the most telling
// first, for a budget may leave no time for all.
//
// First, the children of each group are paired in a ring, the next with the next, by
// a random rank of each. Children are the smaller groups in it, and the ranks that are in none of them. A link above a group
// is then crossed by two pairs. One that is slow slows down two, and its neighbours on the ring but one each. Every second pair
// of a ring comes first. No two of these share a child, but for the first and last of an odd number. So the median of the first
// three is not that of one slow link. Coarse groups come first; groups of single ranks only come last, and only on small
// machines. In between, random pairs make up the number for each level.
func telling(h *topology.Hierarchy, seed uint64) [][2]int {
	rng := rand.New(rand.NewPCG(seed, 1))
	groups := h.Groups()
	var all [][2]int
	seen := make(map[[2]int]bool)
	perLevel := make([]int, len(h.Levels())+1)
	add := func(a, b, level int) {
		if p := [2]int{min(a, b), max(a, b)}; a != b && !seen[p] {
			seen[p] = true
			perLevel[level]++
			all = append(all, [2]int{a, b})
		}
	}
	ring := func(group int) {
		children := harness.Parts(h, group)
		for _, first := range []int{0, 1} {
			for i := first; i < len(children); i += 2 {
				child, next := children[i], children[(i+1)%len(children)]
				add(child[rng.IntN(len(child))], next[rng.IntN(len(next))], groups[group].Level)
			}
		}
	}
	for i, g := range groups {
		if len(g.Children) > 0 {
			ring(i)
		}
	}
	// A group at random, and two ranks of different children: some come up again.
	for level := range perLevel {
		var here []int
		for i, g := range groups {
			if g.Level == level && len(g.Hosts) > 1 {
				here = append(here, i)
			}
		}
		for tries := 0; len(here) > 0 && perLevel[level] < pairsPerLevel && tries < pairTries; tries++ {
			children := harness.Parts(h, here[rng.IntN(len(here))])
			i := rng.IntN(len(children))
			j := (i + 1 + rng.IntN(len(children)-1)) % len(children)
			add(children[i][rng.IntN(len(children[i]))], children[j][rng.IntN(len(children[j]))], level)
		}
	}
	if h.Hosts() <= singleRanks {
		for i, g := range groups {
			if len(g.Children) == 0 && len(g.Hosts) > 1 {
				ring(i)
			}
		}
	}
	return all
}
