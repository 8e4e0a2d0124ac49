package harness

import (
	"cmp"
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
		parts := partsOf(tree, i)
		j := newJoin(p.Scheme, partSizes(parts))
		f.rounds = max(f.rounds, j.rounds())
		f.atOnce = max(f.atOnce, len(g.Hosts)/2)
		f.pairs += j.pairs()
		if _, isMember := slices.BinarySearch(g.Hosts, rank); isMember {
			f.group, f.join, f.parts = i, j, parts
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
func partsOf(tree *topology.Hierarchy, group int) [][]int {
	groups := tree.Groups()
	var parts [][]int
	for _, child := range groups[group].Children {
		parts = append(parts, slices.Clone(groups[child].Hosts))
	}
	alone := slices.DeleteFunc(slices.Clone(groups[group].Hosts), func(rank int) bool { return tree.Smallest(rank) != group })
	return slices.AppendSeq(parts, slices.Chunk(alone, 1))
}

// partSizes are the sizes of the parts, descending.
func partSizes(parts [][]int) []int {
	sizes := make([]int, len(parts))
	for i, part := range parts {
		sizes[i] = len(part)
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	return sizes
}

// turnsDone is the number of rounds of disjoint pairs per repetition.
func (s *schedule) turnsDone() int {
	if s.plan.Rounds > 0 {
		return min(s.plan.Rounds, len(s.turns))
	}
	return len(s.turns)
}

// rounds is the number of rounds per repetition.
func (s *schedule) rounds() int {
	turns := s.turnsDone()
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
	count := 0
	for _, f := range s.phases {
		count += f.pairs
	}
	if turns := len(s.turns); turns > 0 {
		count = count * s.turnsDone() / turns
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

// A repetition is the order in which the rounds of a schedule come, and who meets whom in them.
type repetition struct {
	*schedule
	number int
	turns  []turn
	starts []int   // by turn: its first round, where pairs go one by one; and the end
	seats  [][]int // by level: the ranks of the group by their places
	places []int   // by level: that of the calling rank
}

// repetition draws one. The relabelling of ranks and the order of rounds depend on the seed and the number of
// the repetition only. O(n) memory.
func (s *schedule) repetition(number int) *repetition {
	rng := rand.New(rand.NewPCG(s.plan.Seed, uint64(number)))
	label := rng.Perm(s.tree.Hosts())
	r := &repetition{schedule: s, number: number, turns: slices.Clone(s.turns), seats: make([][]int, len(s.phases)), places: make([]int, len(s.phases))}
	rng.Shuffle(len(r.turns), func(i, j int) { r.turns[i], r.turns[j] = r.turns[j], r.turns[i] })
	r.turns = r.turns[:s.turnsDone()]
	slices.SortStableFunc(r.turns, func(a, b turn) int { return cmp.Compare(a.level, b.level) })
	for level, f := range s.phases {
		if f.group >= 0 {
			r.seats[level] = seat(f.parts, label)
			r.places[level] = slices.Index(r.seats[level], s.rank)
		}
	}
	if s.plan.Sequential {
		r.starts = make([]int, 1, len(r.turns)+1)
		for i, t := range r.turns {
			r.starts = append(r.starts, r.starts[i]+s.phases[t.level].atOnce)
		}
	}
	return r
}

// step is one round of the repetition. O(1); O(n) with one pair at a time.
func (r *repetition) step(round int) step {
	if r.starts == nil {
		return r.turn(r.turns[round])
	}
	i, isStart := slices.BinarySearch(r.starts, round)
	if !isStart {
		i--
	}
	t := r.turns[i]
	whole := r.turn(t)
	part := step{peer: -1, level: t.level}
	if whole.meets {
		own, count := r.phases[t.level].join.turnOf(r.places[t.level], t.number)
		part.meets = round-r.starts[i] < count
		if round-r.starts[i] == own {
			part.peer = whole.peer
		}
	}
	return part
}

// turn is a round of disjoint pairs.
func (r *repetition) turn(t turn) step {
	f := &r.phases[t.level]
	own := step{peer: -1, level: t.level, meets: f.group >= 0 && t.number < f.join.rounds()}
	if own.meets {
		if p := f.join.partner(r.places[t.level], t.number); p >= 0 {
			own.peer = r.seats[t.level][p]
		}
	}
	return own
}

// chosen is a round of given pairs.
func (s *schedule) chosen(round [][2]int) step {
	own := step{peer: -1, level: len(s.phases) - 1, meets: true}
	for _, p := range round {
		switch s.rank {
		case p[0]:
			own.peer = p[1]
		case p[1]:
			own.peer = p[0]
		}
	}
	return own
}
