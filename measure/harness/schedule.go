package harness

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A round is disjoint pairs that are measured at once.
type round struct {
	number int // within its repetition
	level  int // that of the groups at work, from 1 on, each at its own pace; 0: all ranks
	pairs  [][2]int
}

// rounds are those of one repetition. The relabelling of ranks and the order of rounds depend on the seed and the number of
// the repetition only. O(n^2) for all pairs.
//
// The pairs that the groups of one level join come one after the other, from the finest level to the group of all
// ranks; without groups there is the last one only.
func (p *Pairs) rounds(ranks int, seed uint64, repetition int) []round {
	if len(p.Chosen) > 0 {
		return given(p.Chosen, 0)
	}
	tree := p.Groups
	if tree == nil {
		tree, _ = topology.NewHierarchy(ranks, nil, nil, 0) // no groups are always right
	}
	rng := rand.New(rand.NewPCG(seed, uint64(repetition)))
	label := rng.Perm(ranks)
	top := len(tree.Levels())
	// A turn is what the groups of one level do in one round, where each measures as many pairs as are disjoint.
	type turn struct {
		level  int
		groups [][][2]int // the pairs of each group
	}
	levels := make([][]turn, top+1)
	atOnce := make([]int, top+1) // the most pairs of any group in one round
	for i, g := range tree.Groups() {
		if p.WithinGroups && g.Level == top {
			continue
		}
		atOnce[g.Level] = max(atOnce[g.Level], len(g.Hosts)/2)
		for k, pairs := range join(p.Halving, partsOf(tree, i, label)) {
			if k == len(levels[g.Level]) {
				levels[g.Level] = append(levels[g.Level], turn{level: g.Level})
			}
			t := &levels[g.Level][k]
			t.groups = append(t.groups, pairs)
		}
	}
	turns := slices.Concat(levels...)
	rng.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	if p.Rounds > 0 {
		turns = turns[:min(p.Rounds, len(turns))]
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.level, b.level) })
	var rounds []round
	add := func(level int, pairs [][2]int) {
		level = (level + 1) % (top + 1) // 0 for that of all ranks
		rounds = append(rounds, round{len(rounds), level, pairs})
	}
	for _, t := range turns {
		if !p.Sequential {
			add(t.level, slices.Concat(t.groups...))
			continue
		}
		for k := range atOnce[t.level] {
			var one [][2]int
			for _, pairs := range t.groups {
				one = append(one, pairs[min(k, len(pairs)):min(k+1, len(pairs))]...)
			}
			add(t.level, one)
		}
	}
	return rounds
}

// Disjoint are the rounds of the first repetition with this seed, each of disjoint pairs, for measurements by LeadPairs.
func (p *Pairs) Disjoint(ranks int, seed uint64) (rounds [][][2]int) {
	for _, r := range p.rounds(ranks, seed, 0) {
		rounds = append(rounds, r.pairs)
	}
	return rounds
}

// given are rounds of given pairs, numbered from first on.
func given(chosen [][][2]int, first int) []round {
	rounds := make([]round, len(chosen))
	for i, pairs := range chosen {
		rounds[i] = round{number: first + i, pairs: pairs}
	}
	return rounds
}

// countPairs counts those of rounds.
func countPairs(rounds []round) int {
	count := 0
	for _, r := range rounds {
		count += len(r.pairs)
	}
	return count
}

// Parts are the ranks of each part of a group: of the groups in it, and then each rank that is in none of them. They are part of the hierarchy.
func Parts(tree *topology.Hierarchy, group int) (parts [][]int) {
	for _, child := range tree.Groups()[group].Children {
		parts = append(parts, tree.Groups()[child].Hosts)
	}
	for _, rank := range tree.Groups()[group].Hosts {
		if tree.Smallest(rank) == group {
			parts = append(parts, []int{rank})
		}
	}
	return parts
}

// partsOf are the parts that a group joins. The largest comes
// first, and of equal ones the one with the lowest label. The members of each part are ordered by label.
func partsOf(tree *topology.Hierarchy, group int, label []int) [][]int {
	byLabel := func(a, b int) int { return label[a] - label[b] }
	parts := Parts(tree, group)
	for i, part := range parts {
		parts[i] = slices.SortedFunc(slices.Values(part), byLabel)
	}
	slices.SortFunc(parts, func(a, b []int) int { return cmp.Or(len(b)-len(a), byLabel(a[0], b[0])) })
	return parts
}

// join are the rounds in which every two members of different parts meet once. Parts come in descending order of their sizes.
//
// All members meet by halving or by the circle method, and those of one part sit out. With parts of equal size, k of g members, it is shorter to
// let the parts meet: see across. Unequal parts wait for the largest; it is whatever takes fewer rounds.
func join(halved bool, parts [][]int) [][][2]int {
	all := slices.Concat(parts...)
	meet := CircleOf
	if halved {
		meet = halving
	} else if len(parts[0]) > 1 {
		if rounds := across(parts); len(rounds) < circleRounds(len(all)) {
			return rounds
		}
	}
	part := make(map[int]int) // by member
	for i, members := range parts {
		for _, member := range members {
			part[member] = i
		}
	}
	rounds := meet(all)
	for k, pairs := range rounds {
		rounds[k] = slices.DeleteFunc(pairs, func(p [2]int) bool { return part[p[0]] == part[p[1]] })
	}
	return rounds
}

// across are the rounds of parts that meet by the circle method. When two parts meet, the i-th member of one meets the (i+t)-th
// of the other. Equal parts, k of g members, take (k-1)g rounds, the least possible.
func across(parts [][]int) (rounds [][][2]int) {
	numbers := make([]int, len(parts))
	for i := range numbers {
		numbers[i] = i
	}
	for _, meeting := range CircleOf(numbers) {
		longest := 0
		for _, p := range meeting {
			longest = max(longest, len(parts[p[0]])) // the larger one
		}
		for t := range longest {
			var pairs [][2]int
			for _, p := range meeting {
				large, small := parts[p[0]], parts[p[1]]
				if t >= len(large) {
					continue // the others are larger
				}
				for i, a := range large {
					if k := (i - t + len(large)) % len(large); k < len(small) {
						pairs = append(pairs, [2]int{a, small[k]})
					}
				}
			}
			rounds = append(rounds, pairs)
		}
	}
	return rounds
}
