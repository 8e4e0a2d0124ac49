package measure

import (
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A schedule says who is measured with whom, round by round. It is the same on
// all ranks, but each holds its own part only.
//
// Pairs that the plan names are measured one per round, in their order. Else the
// pairs that the groups of one level join are a phase; without groups
// there is one phase, that of all ranks. Inside a group the circle method
// pairs everybody with everybody.
type schedule struct {
	plan  *plan
	tree  *topology.Hierarchy
	rank  int
	turns []turn // rounds of all phases, in their natural order
	own   []int  // by level: index of the rank's group, -1 if it is in none
}

// A turn is one round: the number of it within its phase.
type turn struct{ level, number int }

func newSchedule(p *plan, ranks, rank int) (*schedule, error) {
	tree, err := p.hierarchy(ranks)
	if err != nil {
		return nil, err
	}
	s := &schedule{plan: p, tree: tree, rank: rank, own: make([]int, p.Levels+1)}
	longest := make([]int, p.Levels+1)
	for i := range s.own {
		s.own[i] = -1
	}
	groups := tree.Groups()
	for _, g := range groups {
		longest[g.Level] = max(longest[g.Level], circleRounds(len(g.Hosts)))
	}
	for g := tree.Smallest(rank); g >= 0; g = groups[g].Parent {
		s.own[groups[g].Level] = g
	}
	for level, rounds := range longest {
		if p.Within && level == p.Levels {
			continue
		}
		s.turns = slices.Grow(s.turns, rounds) // each rank has its own
		for number := range rounds {
			s.turns = append(s.turns, turn{level, number})
		}
	}
	return s, nil
}

// rounds is the number of rounds per repetition.
func (s *schedule) rounds() int {
	if n := len(s.plan.Pairs); n > 0 {
		return n
	}
	if s.plan.Rounds > 0 {
		return min(s.plan.Rounds, len(s.turns))
	}
	return len(s.turns)
}

// repetition returns the rank's partner in each round of a repetition, -1
// where it has none. The relabelling of ranks and the order of rounds depend on
// the seed and the number of the repetition only. O(n) time and memory.
func (s *schedule) repetition(number int) []int {
	if len(s.plan.Pairs) > 0 {
		return s.chosen()
	}
	rng := rand.New(rand.NewPCG(s.plan.Seed, uint64(number)))
	label := rng.Perm(s.tree.Hosts())
	turns := slices.Clone(s.turns)
	rng.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })

	// The rank's group of each level in the order of labels.
	circles := make([][]int, len(s.own))
	place := make([]int, len(s.own))
	for level, g := range s.own {
		if g < 0 {
			continue
		}
		circle := slices.Clone(s.tree.Groups()[g].Hosts)
		slices.SortFunc(circle, func(a, b int) int { return label[a] - label[b] })
		circles[level] = circle
		place[level] = slices.Index(circle, s.rank)
	}
	partners := make([]int, s.rounds())
	for i := range partners {
		partners[i] = -1
		t := turns[i]
		circle := circles[t.level]
		if circle == nil || t.number >= circleRounds(len(circle)) {
			continue
		}
		if p := circlePartner(len(circle), place[t.level], t.number); p >= 0 {
			if peer := circle[p]; s.tree.Common(s.rank, peer) == s.own[t.level] {
				partners[i] = peer
			}
		}
	}
	return partners
}

// chosen are the rank's partners when the plan names pairs: one in each round.
func (s *schedule) chosen() []int {
	partners := make([]int, len(s.plan.Pairs))
	for i, p := range s.plan.Pairs {
		switch s.rank {
		case p[0]:
			partners[i] = p[1]
		case p[1]:
			partners[i] = p[0]
		default:
			partners[i] = -1
		}
	}
	return partners
}

// circleRounds is the number of rounds in which n players meet each other
// once: n-1 for even n and n for odd n, the least possible.
func circleRounds(n int) int {
	if n < 2 {
		return 0
	}
	return n - 1 + n%2
}

// circlePartner is the opponent of player p in the given round of the circle
// method, or -1 if p sits out. Players p and q other than the last meet in round
// p+q mod (n-1); the last one of an even number meets whoever would meet
// himself (Lucas 1883, after Walecki).
func circlePartner(n, p, round int) int {
	even := n + n%2 // with a phantom as last player if n is odd
	m := even - 1
	var q int
	if p == even-1 {
		// 2q = round mod m, and m is odd: the inverse of 2 is even/2.
		q = round * (even / 2) % m
	} else {
		q = ((round-p)%m + m) % m
		if q == p {
			q = even - 1
		}
	}
	if q >= n {
		return -1
	}
	return q
}
