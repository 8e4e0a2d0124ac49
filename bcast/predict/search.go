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

	// tries is the number of settings of an algorithm of which all segments are looked at, and then the number of plans
	// of it that are played.
	tries = 3

	// chance is how many times the fastest estimate another algorithm may take: beyond, one plan of it is played.
	chance = 1.5

	// worth is how many times the best prediction a plan may take that is worth timing.
	worth = 2

	// many ranks make each look take milliseconds: fewer looks, and plans that take too long are not played to the end.
	many = 128
)

// Candidates returns each algorithm once, with the settings and the segment
// that are predicted to be fastest, fastest first. Of those that are as good as
// the fastest the first of the list comes first: it is the simplest. In the list
// the settings of one algorithm follow each other (schedule.Variants). Where the
// network has gaps, guesses fill them to order the plans, and Predicted is NaN.
// With more than 128 ranks that of an algorithm which cannot be the first may be an estimate, or a time that it takes
// at least.
func (e *Evaluator) Candidates(list []schedule.Algorithm, bytes, root int) []Plan {
	s := newSearch(e, list, bytes, root, chance)
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
func (e *Evaluator) Shortlist(list []schedule.Algorithm, bytes, root, most int) []Plan {
	const perName = 2 // plans with other settings of one algorithm
	s := newSearch(e, list, bytes, root, worth)
	var all []Plan
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
	var short []Plan
	for _, c := range all {
		if len(short) == most {
			break
		}
		if c.Predicted > worth*fastest {
			continue
		}
		if c.Predicted, _ = s.predict(c.Index, c.Segment, math.Inf(1)); c.Predicted > worth*fastest {
			continue
		}
		settings, seen := map[int]bool{}, false
		for _, x := range short {
			if x.Name() == c.Name() {
				settings[x.Index] = true
			}
			// The same time in the same segments, or by the same settings, is most likely the same schedule.
			same := x.Predicted == c.Predicted
			seen = seen || x.Index == c.Index && (same || alike(x.Segment, c.Segment, bytes)) || x.Segment == c.Segment && same
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
// It estimates many, which costs one segment or two each, plays few, and lets go of
// algorithms that have no chance. With many ranks it stops looking into a plan as soon as what
// was played of it shows that it takes too long.
type search struct {
	*Evaluator
	list      []schedule.Algorithm
	problem   schedule.Problem
	guessed   bool    // some time of the network was guessed
	far       float64 // times the fastest: what takes longer is not played to the end; with many ranks
	families  []family
	estimates map[int][]estimate // by the family's first index: the settings that were looked into
	least     float64            // s, the fastest estimate
	fastest   float64            // s, the least prediction
	played    map[[2]int]float64
}

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

func newSearch(e *Evaluator, list []schedule.Algorithm, bytes, root int, far float64) *search {
	s := &search{
		Evaluator: e, list: list, far: far, least: math.Inf(1), fastest: math.Inf(1),
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
			if _, tree := list[s.families[i].from].Prepare(s.problem).(*schedule.Tree); tree == trees {
				s.families[i].first = s.screenFamily(s.families[i])
			}
		}
	}
	s.guessed = gaps && g.used
	return s
}

// limit is the time in s at which a plan is not played on, if the fastest takes the given time.
func (s *search) limit(fastest float64) float64 {
	if s.ranks <= many {
		return math.Inf(1)
	}
	return s.far * fastest
}

// all is the best plan of each family, in their order. Those that seem fastest are looked into first.
func (s *search) all() []Plan {
	order := make([]int, len(s.families))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(s.families[i].first[0].seconds, s.families[j].first[0].seconds)
	})
	best := make([]Plan, len(s.families))
	for _, i := range order {
		best[i] = s.best(s.families[i])
		s.fastest = min(s.fastest, best[i].Predicted)
	}
	return best
}

// predict is the prediction, which is worked out once; or a time above the limit that it is at least, and false.
func (s *search) predict(index, segment int, limit float64) (seconds float64, all bool) {
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
func (s *search) seen(g estimate) Plan {
	nan := math.NaN()
	return Plan{Algorithm: s.list[g.index], Index: g.index, Segment: g.segment, Predicted: g.seconds, Measured: nan, MeasuredNative: nan}
}

// plan is a plan with its prediction. If that is above the limit it may be what the plan seems to take, or
// takes at least, instead, and it is false.
func (s *search) plan(g estimate, limit float64) (c Plan, all bool) {
	c = s.seen(g)
	t, all := s.predict(g.index, g.segment, limit)
	if c.Predicted = t; !all {
		c.Predicted = max(t, g.seconds)
	}
	return c, all
}

// best looks for the settings and the segment that an algorithm does best with.
func (s *search) best(f family) Plan {
	limit, tries := s.limit(s.fastest), tries
	if s.ranks > many {
		tries = 1
	}
	if g := f.first[0]; g.seconds > chance*s.least {
		if s.ranks > many {
			return s.seen(g)
		}
		c, _ := s.plan(g, limit)
		return c
	}
	for _, g := range f.first[:min(tries, len(f.first))] {
		s.estimates[f.from] = append(s.estimates[f.from], s.segments(g)...)
	}
	all := slices.Clone(s.estimates[f.from])
	slices.SortStableFunc(all, func(a, b estimate) int { return cmp.Compare(a.seconds, b.seconds) })
	best, ok := s.plan(all[0], limit)
	if !ok {
		return best
	}
	for _, g := range all[1:min(tries, len(all))] {
		if c, ok := s.plan(g, best.Predicted); ok && c.Predicted < best.Predicted {
			best = c
		}
	}
	return s.usual(best, all)
}

// usual is a plan with the longest of the usual segments that are predicted to do as well as its own, within what a
// prediction is worth: fewer messages rest on less. all are the estimates of the algorithm.
func (s *search) usual(best Plan, all []estimate) Plan {
	enough := asGood * best.Predicted
	length := func(segment int) int {
		if segment == 0 {
			return s.problem.Bytes
		}
		return segment
	}
	chosen := best
	for _, g := range all {
		if g.index == best.Index && g.segment <= usualSegment && length(g.segment) > length(chosen.Segment) && g.seconds <= enough {
			if c, ok := s.plan(g, enough); ok && c.Predicted <= enough {
				chosen = c
			}
		}
	}
	return chosen
}

// segments estimates an algorithm with the whole message, and with all powers of
// two below it; with many ranks, with those from the one of a first estimate on, in both directions, for as long as that
// helps.
func (s *search) segments(first estimate) []estimate {
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

// powerBelow is the largest power of two below n, 0 if there is none.
func powerBelow(n int) int {
	s := 0
	for t := 1; t < n; t *= 2 {
		s = t
	}
	return s
}
