package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

// A family are the settings list[from:to] of one algorithm.
type family struct {
	from, to int
	first    []estimate // of each, with the segment that seems best at screening
}

// An estimate is what a plan seems to take.
type estimate struct {
	index, segment int
	seconds        float64
	beyond         bool // it takes more than that, and more than is of interest
}

const (
	tries  = 3       // settings of an algorithm of which all segments are looked at, and then plans of it that are played
	chance = 1.5     // times the fastest at screening: beyond, one plan of the algorithm is played
	most   = 4 << 20 // steps of all ranks that are played: more take seconds
	many   = 512     // ranks, of which each look takes milliseconds: fewer looks
)

func newSearch(e *Evaluator, list []schedule.Algorithm, bytes, root int, distant, slow float64) *search {
	s := &search{
		Evaluator: e, list: list, distant: distant, slow: slow, least: math.Inf(1), fastest: math.Inf(1),
		estimates: make(map[int][]estimate), played: make(map[[2]int]float64),
		problem: schedule.Problem{Ranks: e.ranks, Root: root, Bytes: bytes, Tree: e.along, Costs: e.costs},
	}
	g, gaps := e.transfers.(*guess)
	if gaps {
		g.used = false
	}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Name() == list[from].Name() {
			to++
		}
		s.families = append(s.families, family{from: from, to: to})
		from = to
	}
	// Trees first, and from the last one on: those that follow costs or groups come last in schedule.Algorithms, take
	// little to be looked at, and with many ranks leave no chance to most of the others.
	for _, trees := range [...]bool{true, false} {
		for i := len(s.families) - 1; i >= 0; i-- {
			if _, ok := list[s.families[i].from].(schedule.Planner); ok == trees {
				s.families[i].first = s.screenFamily(s.families[i])
			}
		}
	}
	s.guessed = gaps && g.used
	return s
}

// screenFamily estimates the settings of an algorithm: those that seem fastest come first.
func (s *search) screenFamily(f family) []estimate {
	var first []estimate
	if v, ok := s.list[f.from].(schedule.Factored); ok {
		first = s.descend(f, v.Factors(s.problem))
	} else {
		for i := f.from; i < f.to; i++ {
			first = append(first, s.screen(i))
		}
	}
	slices.SortStableFunc(first, func(a, b estimate) int { return cmp.Compare(a.seconds, b.seconds) })
	s.least = min(s.least, first[0].seconds)
	return first
}

// screen is the best one of a whole message, long and usual segments, and the shortest; with many ranks
// it is usual segments.
func (s *search) screen(index int) estimate {
	segment, limit := usualSegment, s.limit(s.distant, s.least)
	if s.problem.Bytes <= usualSegment || undivided(s.list[index]) {
		segment = 0
	}
	if _, ok := s.list[index].(schedule.Planner); !ok {
		part := schedule.Parts(s.list[index], s.problem)
		if !s.playable(part) {
			return estimate{index, 0, math.Inf(1), false}
		}
		if s.ranks > many {
			if t := s.atLeast(part); t > limit {
				return estimate{index, segment, t, true}
			}
		}
	}
	if s.ranks > many {
		g := s.estimate(index, segment)
		s.least = min(s.least, g.seconds)
		return g
	}
	best := s.estimate(index, 0)
	if undivided(s.list[index]) {
		return best
	}
	for _, segment := range [...]int{longSegment, usualSegment, MinSegment} { // the last fills long chains with short messages
		if s.problem.Bytes > segment {
			if g := s.estimate(index, segment); g.seconds < best.seconds {
				best = g
			}
		}
	}
	return best
}

// playable tells whether the steps of an algorithm, given the part of each rank, are few enough.
func (s *search) playable(part func(rank int) schedule.Part) bool {
	p := s.problem
	p.Segment = usualSegment
	if p.Pieces() > leastPlain {
		p.Bytes = leastPlain * usualSegment
	}
	return len(part((p.Root+1)%p.Ranks).Ops(nil, p))*p.Ranks <= most
}

// atLeast is the time in s for which the root, or another rank, or the link of one, is busy, in usual segments. Most of
// what does badly among many ranks does so because the root sends too much.
func (s *search) atLeast(part func(rank int) schedule.Part) float64 {
	p := s.problem
	whole := 1.0 // parts of the message
	if p.Segment = usualSegment; p.Bytes > leastPlain*usualSegment {
		whole = float64(p.Bytes) / (leastPlain * usualSegment)
		p.Bytes = leastPlain * usualSegment
	}
	most := 0.0
	for _, rank := range [...]int{p.Root, (p.Root + 1) % p.Ranks} {
		software, out, in := 0.0, 0.0, 0.0
		own := func(src, dst, bytes int) (first, last float64) {
			busy := max(0, s.transfers.Time(src, dst, int64(bytes))-s.transfers.Time(src, dst, 0))
			s.hops = s.paths.hops(s.hops[:0], src, dst, int64(bytes), busy, 0)
			return s.hops[0].own, s.hops[len(s.hops)-1].own
		}
		s.spare = apart(s.spare[:0], part(rank).Ops(nil, p))
		for _, op := range s.spare {
			switch op.Kind {
			case schedule.Send:
				software += s.machine.send
				first, _ := own(rank, op.Peer, op.Length)
				out += first
			case schedule.Recv:
				software += s.machine.recv
				_, last := own(op.Peer, rank, op.Length)
				in += last
			}
		}
		most = max(most, software, whole*out, whole*in)
	}
	return most
}

// descend chooses one setting after the other, from some starts, until none
// alone does better; the index of a combination is the number whose digits are the
// choices, of the given bases, the first the most significant.
func (s *search) descend(f family, bases []int) []estimate {
	seen := make(map[int]estimate)
	look := func(digits []int) estimate {
		i := 0
		for k, base := range bases {
			i = i*base + digits[k]
		}
		g, ok := seen[i]
		if !ok {
			g = s.screen(f.from + i)
			seen[i] = g
		}
		return g
	}
	starts := slices.Max(append(slices.Clone(bases), 1))
	if s.ranks > many {
		starts = 1
	}
	for start := range starts {
		digits := make([]int, len(bases))
		for k := range digits {
			digits[k] = min(start, bases[k]-1)
		}
		best := look(digits)
		for better := true; better; {
			better = false
			for k, base := range bases {
				old := digits[k]
				for d := range base {
					digits[k] = d
					if g := look(digits); g.seconds < best.seconds {
						best, old, better = g, d, true
					}
				}
				digits[k] = old
			}
		}
	}
	all := make([]estimate, 0, len(seen))
	for _, g := range seen {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b estimate) int { return a.index - b.index })
	return all
}

// estimate plays one segment through an empty network, and takes it that the others
// follow as fast as the busiest link or rank can: first + (k - 1) pace. Of an algorithm
// in which ranks have several parents it plays two. What is beyond the limit by what bounds it is not played.
func (s *search) estimate(index, segment int) estimate {
	a, p, limit := s.list[index], s.problem, s.limit(s.distant, s.least)
	p.Segment = segment
	k := p.Pieces()
	if k < 2 {
		t, ok := s.predictWithin(index, segment, limit)
		return estimate{index, segment, t, !ok}
	}
	s.coarse = true
	defer func() { s.coarse = false }()
	if !schedule.AlongOneTree(a) {
		t, ok := s.extrapolate(a, p, k, 2, limit)
		return estimate{index, segment, t, !ok}
	}
	p.Bytes = p.PieceBytes()
	s.schedule(a, p)
	if !math.IsInf(limit, 1) {
		least, busy := s.lowerBound(limit)
		if least += busy * float64(k-1); least > limit*aboveRounding {
			return estimate{index, segment, least, true}
		}
	}
	first, _, _ := s.evaluate(0, math.Inf(1))
	return estimate{index, segment, first + s.busiest()*float64(k-1), false}
}

// segments estimates an algorithm with the whole message, and with all powers of
// two below it; with many ranks, with those from the one of a first estimate on, in both directions, for as long as that
// helps.
func (s *search) segments(first estimate) []estimate {
	if undivided(s.list[first.index]) {
		return []estimate{first}
	}
	all := []estimate{s.estimate(first.index, 0)}
	if s.ranks <= many || first.segment == 0 {
		for segment := powerBelow(s.problem.Bytes); segment >= MinSegment; segment /= 2 {
			all = append(all, s.estimate(first.index, segment))
		}
		return all
	}
	all = append(all, first)
	for _, next := range [...]func(int) int{func(x int) int { return 2 * x }, func(x int) int { return x / 2 }} {
		last := first
		for segment := next(first.segment); segment >= MinSegment && segment < s.problem.Bytes; segment = next(segment) {
			g := s.estimate(first.index, segment)
			all = append(all, g)
			if g.seconds > last.seconds {
				break
			}
			last = g
		}
	}
	return all
}

// undivided tells whether all segments are the same to an algorithm.
func undivided(a schedule.Algorithm) bool {
	_, ok := a.(schedule.Undivided)
	return ok
}

// powerBelow is the largest power of two below n, 0 if there is none.
func powerBelow(n int) int {
	s := 0
	for t := 1; t < n; t *= 2 {
		s = t
	}
	return s
}
