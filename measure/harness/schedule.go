package harness

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A schedule says who is measured with whom, round by round. It is the same on
// all ranks, but each holds its own part only.
//
// The pairs that the groups of one level join are a phase, from the finest level
// to the group of all ranks; without groups there is the last one only.
type schedule struct {
	plan   *plan
	tree   *topology.Hierarchy
	rank   int
	turns  []turn  // rounds of disjoint pairs, of all phases, in their natural order
	phases []phase // by level; the last one is that of all ranks
}

// A turn is the number of a round of disjoint pairs within its phase.
type turn struct{ level, number int }

// A phase is what the groups of one level do at once.
type phase struct {
	rounds int   // the most of any group
	atOnce int   // the most pairs of any group in one round
	pairs  int   // of all groups and rounds
	group  int   // of the calling rank; -1: none, it waits
	join   *join // of that group
	parts  [][]int
}

// A step is one round as a rank has it.
type step struct {
	peer  int // -1: none
	level int // of the groups that are at work
	meets bool
	pairs int // of all ranks, if they are known one by one
}

func newSchedule(p *plan, ranks, rank int) (*schedule, error) {
	tree, err := p.hierarchy(ranks)
	if err != nil {
		return nil, err
	}
	s := &schedule{plan: p, tree: tree, rank: rank, phases: make([]phase, p.Levels+1)}
	for level := range s.phases {
		s.phases[level].group = -1
	}
	groups := tree.Groups()
	for i, g := range groups {
		if p.Within && g.Level == p.Levels {
			continue
		}
		f := &s.phases[g.Level]
		j := newJoin(p.Scheme, partSizes(groups, g))
		f.rounds = max(f.rounds, j.rounds())
		f.atOnce = max(f.atOnce, len(g.Hosts)/2)
		f.pairs += j.pairs()
		if _, isMember := slices.BinarySearch(g.Hosts, rank); isMember {
			f.group, f.join, f.parts = i, j, partsOf(groups, g)
		}
	}
	for level, f := range s.phases {
		s.turns = slices.Grow(s.turns, f.rounds) // each rank has its own
		for number := range f.rounds {
			s.turns = append(s.turns, turn{level, number})
		}
	}
	return s, nil
}

// partsOf are the parts that a group joins: the groups in it, and each rank that
// is in none of them.
func partsOf(groups []topology.Group, g topology.Group) [][]int {
	parts := make([][]int, 0, len(g.Children))
	inChild := make(map[int]bool)
	for _, c := range g.Children {
		parts = append(parts, slices.Clone(groups[c].Hosts))
		for _, rank := range groups[c].Hosts {
			inChild[rank] = true
		}
	}
	alone := make([]int, 0, len(g.Hosts)-len(inChild))
	for _, rank := range g.Hosts {
		if !inChild[rank] {
			alone = append(alone, rank)
			parts = append(parts, alone[len(alone)-1:])
		}
	}
	return parts
}

// partSizes are the sizes of the parts, descending.
func partSizes(groups []topology.Group, g topology.Group) []int {
	sizes := make([]int, 0, len(g.Hosts))
	alone := len(g.Hosts)
	for _, c := range g.Children {
		sizes = append(sizes, len(groups[c].Hosts))
		alone -= len(groups[c].Hosts)
	}
	for range alone {
		sizes = append(sizes, 1)
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	return sizes
}

// rounds is the number of rounds per repetition.
func (s *schedule) rounds() int {
	if n := len(s.plan.Chosen); n > 0 {
		return n
	}
	turns := len(s.turns)
	if s.plan.Rounds > 0 {
		turns = min(s.plan.Rounds, turns)
	}
	if !s.plan.Sequential {
		return turns
	}
	count := 0
	for _, t := range s.turns[:turns] {
		count += s.phases[t.level].atOnce
	}
	return count
}

// pairs is the number of pairs per repetition, or about that of a part of the rounds.
func (s *schedule) pairs() int {
	if len(s.plan.Chosen) > 0 {
		return countPairs(s.plan.Chosen)
	}
	count := 0
	for _, f := range s.phases {
		count += f.pairs
	}
	if turns := len(s.turns); s.plan.Rounds > 0 && s.plan.Rounds < turns {
		count = count * s.plan.Rounds / turns
	}
	return count
}

// countPairs counts those of given rounds.
func countPairs(rounds [][][2]int) int {
	count := 0
	for _, round := range rounds {
		count += len(round)
	}
	return count
}

// repetition yields the rounds of a repetition. The relabelling of ranks and
// the order of rounds depend on the seed and the number of the repetition only.
// O(n) memory, and O(log n) time per round; O(n) with one pair at a time.
func (s *schedule) repetition(number int) iter.Seq[step] {
	if len(s.plan.Chosen) > 0 {
		return s.chosen(s.plan.Chosen)
	}
	rng := rand.New(rand.NewPCG(s.plan.Seed, uint64(number)))
	label := rng.Perm(s.tree.Hosts())
	turns := slices.Clone(s.turns)
	rng.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	if s.plan.Rounds > 0 {
		turns = turns[:min(s.plan.Rounds, len(turns))]
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.level, b.level) })

	seats := make([][]int, len(s.phases)) // by level: the group's ranks by their places
	places := make([]int, len(s.phases))
	for level, f := range s.phases {
		if f.group >= 0 {
			seats[level] = seat(f.parts, label)
			places[level] = slices.Index(seats[level], s.rank)
		}
	}
	return func(yield func(step) bool) {
		for _, t := range turns {
			f := &s.phases[t.level]
			own := step{peer: -1, level: t.level, meets: f.group >= 0 && t.number < f.join.rounds()}
			if own.meets {
				if p := f.join.partner(places[t.level], t.number); p >= 0 {
					own.peer = seats[t.level][p]
				}
			}
			if !s.plan.Sequential {
				if !yield(own) {
					return
				}
				continue
			}
			if !s.oneByOne(yield, own, places[t.level], t) {
				return
			}
		}
	}
}

// oneByOne yields the pairs of one round, each as a round of its own.
func (s *schedule) oneByOne(yield func(step) bool, own step, place int, t turn) bool {
	f := &s.phases[t.level]
	turn, count := -1, 0
	if own.meets {
		turn, count = f.join.turnOf(place, t.number)
	}
	for i := range f.atOnce {
		part := step{peer: -1, level: t.level, meets: i < count}
		if i == turn {
			part.peer = own.peer
		}
		if !yield(part) {
			return false
		}
	}
	return true
}

// chosen yields given rounds.
func (s *schedule) chosen(rounds [][][2]int) iter.Seq[step] {
	return func(yield func(step) bool) {
		for _, round := range rounds {
			own := step{peer: -1, level: len(s.phases) - 1, meets: true, pairs: len(round)}
			for _, p := range round {
				switch s.rank {
				case p[0]:
					own.peer = p[1]
				case p[1]:
					own.peer = p[0]
				}
			}
			if !yield(own) {
				return
			}
		}
	}
}
