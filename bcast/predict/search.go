package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

const (
	MinSegment   = 1 << 10 // bytes; shorter ones only cost overhead
	usualSegment = 8 << 10 // bytes; good on most networks, as libraries send it without a handshake
	longSegment  = 8 * usualSegment
)

// Candidates returns each algorithm once, with the settings and the segment
// that are predicted to be fastest, fastest first. Of those that are as good as
// the fastest the first of the list comes first: it is the simplest. In the list
// the settings of one algorithm follow each other (schedule.Variants). Where the
// network has gaps, guesses fill them to order the plans, and Predicted is NaN; so
// it is of algorithms with too many steps to be played. With more than 512 ranks
// that of an algorithm which cannot be the first may be what it seems to take at screening, or takes at least.
func (e *Evaluator) Candidates(list []schedule.Algorithm, bytes, root int) []Candidate {
	s := newSearch(e, list, bytes, root, chance, asGood)
	best := s.all()
	order(best)
	s.hide(best)
	return best
}

// Shortlist returns at most so many plans that are worth timing, the fastest by
// prediction first: it is those among which a prediction can be wrong. They
// differ in the algorithm, in its settings, or in the segment by a factor of four
// at least, and none is predicted to take more than twice as long as the fastest.
// Where the network does not know how long messages of a size really take, as of
// one that was measured while others were at work, the segments tell.
func (e *Evaluator) Shortlist(list []schedule.Algorithm, bytes, root, most int) []Candidate {
	const (
		worth   = 2 // times the best prediction
		perName = 2 // plans with other settings of one algorithm
	)
	s := newSearch(e, list, bytes, root, worth, worth)
	var all []Candidate
	for i, best := range s.all() {
		all = append(all, best)
		for _, g := range s.estimates[s.families[i].from] {
			if !g.beyond && (g.index != best.Index || !alike(g.segment, best.Segment, bytes)) {
				all = append(all, s.seen(g))
			}
		}
	}
	fastest := s.fastest
	order(all)
	var short []Candidate
	for _, c := range all {
		if len(short) == most {
			break
		}
		if c.Predicted > worth*fastest {
			continue
		}
		if !math.IsInf(c.Predicted, 1) {
			if c.Predicted = s.predict(c.Index, c.Segment); c.Predicted > worth*fastest {
				continue
			}
		}
		settings, seen := map[int]bool{}, false
		for _, x := range short {
			if x.Name() == c.Name() {
				settings[x.Index] = true
			}
			// The same time in the same segments is most likely the same schedule.
			seen = seen || x.Index == c.Index && alike(x.Segment, c.Segment, bytes) || x.Segment == c.Segment && x.Predicted == c.Predicted
		}
		if !seen && (settings[c.Index] || len(settings) < perName) {
			short = append(short, c)
		}
	}
	order(short)
	s.hide(short)
	return short
}

// alike tells whether two segments of a message differ by less than a factor of four.
func alike(a, b, bytes int) bool {
	if a == 0 {
		a = bytes
	}
	if b == 0 {
		b = bytes
	}
	return a < 4*b && b < 4*a
}

// A search looks for the best settings and segments of the algorithms in a list.
// It estimates many, which costs one segment each, plays few, and lets go of
// algorithms that have no chance. With many ranks it stops looking into a plan as soon as a bound, or what
// was played of it, shows that it takes too long.
type search struct {
	*Evaluator
	list      []schedule.Algorithm
	problem   schedule.Problem
	guessed   bool    // some time of the network was guessed
	distant   float64 // times the fastest at screening: what seems to take longer is not looked into; with many ranks
	slow      float64 // times the least prediction: what takes longer is not played to the end; with many ranks
	families  []family
	estimates map[int][]estimate // by the family's first index: the settings that were looked into
	least     float64            // s, the fastest at screening
	fastest   float64            // s, the least prediction
	played    map[[2]int]float64
	hops      []hop // storage of atLeast
}

// limit is so many times the fastest in s, if that ends the search with so many ranks.
func (s *search) limit(times, fastest float64) float64 {
	if s.ranks <= many {
		return math.Inf(1)
	}
	return times * fastest
}

// all is the best candidate of each family, in their order. Those that seem fastest are looked into first, but
// those that are no trees, of which a few pieces tell little, after the others.
func (s *search) all() []Candidate {
	order := make([]int, len(s.families))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := s.families[i].first[0], s.families[j].first[0]
		if one := schedule.AlongOneTree(s.list[a.index]); one != schedule.AlongOneTree(s.list[b.index]) {
			if one {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.seconds, b.seconds)
	})
	best := make([]Candidate, len(s.families))
	for _, i := range order {
		best[i] = s.best(s.families[i])
		s.fastest = min(s.fastest, best[i].Predicted)
	}
	return best
}

// predict is the prediction, which is worked out once.
func (s *search) predict(index, segment int) float64 {
	t, _ := s.predictWithin(index, segment, math.Inf(1))
	return t
}

// predictWithin is predict, or a time above the limit that the prediction is at least, and false.
func (s *search) predictWithin(index, segment int, limit float64) (seconds float64, all bool) {
	key := [2]int{index, segment}
	if t, ok := s.played[key]; ok {
		return t, true
	}
	p := s.problem
	p.Segment = segment
	t, ok := s.within(s.list[index], p, limit)
	if ok {
		s.played[key] = t
	}
	return t, ok
}

// seen is a plan with what it seems to take.
func (s *search) seen(g estimate) Candidate {
	nan := math.NaN()
	return Candidate{Plan{Algorithm: s.list[g.index], Segment: g.segment, Predicted: g.seconds, Measured: nan, MeasuredNative: nan}, g.index}
}

// candidate is a plan with its prediction. If that is above the limit it may be what the plan seems to take, or
// takes at least, instead, and it is false.
func (s *search) candidate(g estimate, limit float64) (c Candidate, all bool) {
	c = s.seen(g)
	if math.IsInf(g.seconds, 1) {
		return c, true
	}
	t, all := s.predictWithin(g.index, g.segment, limit)
	if c.Predicted = t; !all {
		c.Predicted = max(t, g.seconds)
	}
	return c, all
}

// best looks for the settings and the segment that an algorithm does best with.
func (s *search) best(f family) Candidate {
	limit := s.limit(s.slow, s.fastest)
	if g := f.first[0]; g.seconds > chance*s.least {
		if s.ranks > many {
			return s.seen(g)
		}
		c, _ := s.candidate(g, limit)
		return c
	}
	tries := tries
	if s.ranks > many {
		tries = 1
		if t, ok := s.refine(f.first[0], max(limit, s.limit(chance, s.least))); !ok {
			c := s.seen(f.first[0])
			c.Predicted = max(t, c.Predicted)
			return c
		}
	}
	for _, g := range f.first[:min(tries, len(f.first))] {
		s.estimates[f.from] = append(s.estimates[f.from], s.segments(g)...)
	}
	all := slices.Clone(s.estimates[f.from])
	slices.SortStableFunc(all, func(a, b estimate) int { return cmp.Compare(a.seconds, b.seconds) })
	best, ok := s.candidate(all[0], limit)
	if !ok {
		return best
	}
	for _, g := range all[1:min(tries, len(all))] {
		if c, ok := s.candidate(g, best.Predicted); ok && c.Predicted < best.Predicted {
			best = c
		}
	}
	return s.usual(best)
}

// refine is a second estimate of what is no tree, of which two pieces tell little, at twice as many. It is a time beyond
// the limit and false if the plan takes more than that.
func (s *search) refine(g estimate, limit float64) (seconds float64, ok bool) {
	const pieces = 4
	a, p := s.list[g.index], s.problem
	p.Segment = g.segment
	k := p.Pieces()
	if schedule.AlongOneTree(a) || undivided(a) || k <= pieces {
		return g.seconds, true
	}
	return s.extrapolate(a, p, k, pieces, limit)
}

// usual is a plan with the most usual of the segments that do as well as that of
// the given one, within what a prediction is worth: the whole message, or else the
// longest segment up to usualSegment, or else the shortest.
func (s *search) usual(best Candidate) Candidate {
	enough, chosen := asGood*best.Predicted, best
	try := func(segment int) bool {
		t, ok := s.predictWithin(best.Index, segment, enough)
		if !ok || t > enough {
			return false
		}
		chosen.Segment, chosen.Predicted = segment, t
		return true
	}
	if best.Segment == 0 || try(0) {
		return chosen
	}
	for segment := usualSegment; segment > best.Segment; segment /= 2 {
		if segment < s.problem.Bytes && try(segment) {
			return chosen
		}
	}
	for segment := best.Segment / 2; segment >= usualSegment && try(segment); segment /= 2 {
	}
	return chosen
}
