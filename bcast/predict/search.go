package predict

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

// The search for plans has two steps. First the settings of each algorithm, and the segment, are changed one at a time
// for as long as that lowers an estimate, which costs a segment or two. Then the best of each algorithm are played.

// MinSegment is the length in bytes of the shortest segments that are looked at: shorter ones only cost overhead.
const MinSegment = 1 << 10

const (
	// tries is how many plans of an algorithm are played, those with the least estimates.
	tries = 3

	// usualSegment is the length in bytes up to which a longer segment is preferred: libraries send it without a handshake.
	usualSegment = 8 << 10

	// worth is how many times as long as the fastest plan another one may take to be of interest.
	worth = 2

	// With more ranks than many an estimate takes milliseconds. Then there are fewer of them, and plans that take too
	// long are not played to the end.
	many = 128
)

// Candidates returns each algorithm once, with the settings and the segment that are predicted to be fastest, fastest
// first. Of those that are as good as the fastest the first of the list comes first: it is the simplest. In the list the
// settings of one algorithm follow each other (schedule.Variants). Where the network has gaps, guesses fill them to order
// the plans, and Predicted is NaN. With more than 128 ranks Predicted of an algorithm that takes twice as long as the
// fastest may be an estimate, or a time that it takes at least.
func (e *Evaluator) Candidates(list []schedule.Algorithm, bytes, root int) []Plan {
	s := newSearch(e, list, bytes, root)
	best := s.all()
	order(best)
	s.hide(best)
	return best
}

// Shortlist returns the plans that are worth timing, at most as many as most, the fastest by prediction first. They
// differ in the algorithm, in its settings, or in the segment by a factor of four at least. None is predicted to take
// more than twice as long as the fastest, because predictions are no worse than that.
func (e *Evaluator) Shortlist(list []schedule.Algorithm, bytes, root, most int) []Plan {
	const perName = 2 // plans with other settings of one algorithm
	s := newSearch(e, list, bytes, root)
	all := s.all()
	for i, f := range s.families {
		best := all[i]
		for _, g := range f.estimates {
			if !g.beyond && (g.index != best.Index || !alike(g.segment, best.Segment, bytes)) {
				all = append(all, s.unplayed(g))
			}
		}
	}
	order(all)
	var short []Plan
	for _, c := range all {
		if len(short) == most {
			break
		}
		if c.Predicted > worth*s.fastest {
			continue
		}
		if c.Predicted, _ = s.predict(c.Index, c.Segment, math.Inf(1)); c.Predicted > worth*s.fastest {
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
	a, b = cmp.Or(a, bytes), cmp.Or(b, bytes)
	return a < 4*b && b < 4*a
}

// A search looks for the best settings and segments of the algorithms in a list.
type search struct {
	*Evaluator
	list     []schedule.Algorithm
	problem  schedule.Problem
	guessed  bool // some time of the network was guessed
	segments []int
	families []*family
	least    float64 // s, the fastest estimate
	fastest  float64 // s, the least prediction
	played   map[[2]int]float64
}

// A family are the settings list[from:to] of one algorithm.
type family struct {
	from, to  int
	estimates []estimate // that were made, the fastest first
}

// An estimate is what a plan seems to take.
type estimate struct {
	index, segment int
	seconds        float64
	beyond         bool // it takes more than that, and more than is of interest
}

func newSearch(e *Evaluator, list []schedule.Algorithm, bytes, root int) *search {
	s := &search{
		Evaluator: e, list: list, segments: []int{0}, least: math.Inf(1), fastest: math.Inf(1), played: make(map[[2]int]float64),
		problem: schedule.Problem{Ranks: e.ranks, Root: root, Bytes: bytes, Tree: e.along, Costs: e.costs},
	}
	for segment := powerBelow(bytes); segment >= MinSegment; segment /= 2 {
		s.segments = append(s.segments, segment)
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
		s.families = append(s.families, &family{from: from, to: to})
		from = to
	}
	// From the last one on: those that follow costs or groups come last in schedule.Algorithms, and leave little chance
	// to most of the others.
	for _, f := range slices.Backward(s.families) {
		s.descend(f)
	}
	s.guessed = gaps && g.used
	return s
}

// powerBelow is the largest power of two below n, 0 if there is none.
func powerBelow(n int) int {
	s := 0
	for t := 1; t < n; t *= 2 {
		s = t
	}
	return s
}

// length is that of the longest piece in bytes; segment 0 is the whole message.
func (s *search) length(segment int) int { return cmp.Or(segment, s.problem.Bytes) }

// A descent estimates plans of one algorithm. The choices of a plan are the digits of its setting, and then the index of
// its segment.
type descent struct {
	*search
	family *family
	bases  []int // how many values each choice has
	seen   map[[2]int]estimate
}

// descend estimates an algorithm, from several settings and the longest usual segment on.
func (s *search) descend(f *family) {
	settings := []int{f.to - f.from}
	if a, ok := s.list[f.from].(schedule.Factored); ok {
		settings = a.Factors(s.problem)
	}
	starts := slices.Max(append(slices.Clone(settings), 1))
	if s.ranks > many {
		starts = 1
	}
	d := &descent{search: s, family: f, bases: append(slices.Clone(settings), len(s.segments)), seen: make(map[[2]int]estimate)}
	usual := slices.IndexFunc(s.segments, func(segment int) bool { return s.length(segment) <= usualSegment })
	for start := range starts {
		var choices []int
		for _, base := range settings {
			choices = append(choices, min(start, base-1))
		}
		d.from(append(choices, usual))
	}
	f.estimates = slices.SortedFunc(maps.Values(d.seen), func(a, b estimate) int {
		return cmp.Or(cmp.Compare(a.seconds, b.seconds), cmp.Compare(a.index, b.index), cmp.Compare(b.segment, a.segment))
	})
}

// from changes one choice after the other, the segment among them, until no change of one alone is faster.
func (d *descent) from(choices []int) {
	best := d.look(choices)
	for better := true; better; {
		better = false
		for k, base := range d.bases {
			kept := choices[k]
			faster := func(choice int) bool {
				choices[k] = choice
				g := d.look(choices)
				if g.seconds >= best.seconds {
					return false
				}
				best, kept, better = g, choice, true
				return true
			}
			if k < len(d.bases)-1 {
				for choice := range base {
					faster(choice)
				}
			} else if !best.beyond {
				// The message is sent whole, or one segment is best and times grow from there on in both directions.
				faster(0)
				for choice := kept + 1; choice < base && faster(choice); choice++ {
				}
				for choice := kept - 1; choice >= 0 && faster(choice); choice-- {
				}
			}
			choices[k] = kept
		}
	}
}

// look is the estimate of a plan, which is made once.
func (d *descent) look(choices []int) estimate {
	index, last := 0, len(choices)-1
	for k, choice := range choices[:last] {
		index = index*d.bases[k] + choice
	}
	at := [2]int{index, choices[last]}
	if _, ok := d.seen[at]; !ok {
		d.seen[at] = d.estimate(d.family.from+index, d.segments[choices[last]])
		d.least = min(d.least, d.seen[at].seconds)
	}
	return d.seen[at]
}

// estimate plays one segment of a tree through an empty network, and takes it that the others
// follow as fast as the busiest link or rank can: first + (k - 1) pace. Of an algorithm
// in which ranks have several parents it plays two. With many ranks, what is beyond the limit is not played on.
func (s *search) estimate(index, segment int) estimate {
	p, limit := s.problem, s.limit(s.least)
	p.Segment = segment
	k := p.Pieces()
	if k < 2 {
		t, ok := s.predict(index, segment, limit)
		return estimate{index, segment, t, !ok}
	}
	s.coarse = true
	defer func() { s.coarse = false }()
	parts := s.list[index].Prepare(p)
	if _, tree := parts.(*schedule.Tree); !tree {
		t, ok := s.extrapolate(parts, p, 2, limit)
		return estimate{index, segment, t, !ok}
	}
	p.Bytes = p.PieceBytes()
	s.schedule(parts, p)
	first, ok := s.evaluate(limit)
	return estimate{index, segment, first + s.busiest()*float64(k-1), !ok}
}

// limit is the time in s at which a plan is not played on, if the fastest takes the given time.
func (s *search) limit(fastest float64) float64 {
	if s.ranks <= many {
		return math.Inf(1)
	}
	return worth * fastest
}

// all is the best plan of each family, in their order. Those that seem fastest are played first.
func (s *search) all() []Plan {
	order := make([]int, len(s.families))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(s.families[i].estimates[0].seconds, s.families[j].estimates[0].seconds)
	})
	best := make([]Plan, len(s.families))
	for _, i := range order {
		best[i] = s.best(s.families[i])
		s.fastest = min(s.fastest, best[i].Predicted)
	}
	return best
}

// best plays the plans of an algorithm that seem fastest, and returns the fastest. Of an algorithm that is of no interest
// one plan is played, and with many ranks none.
func (s *search) best(f *family) Plan {
	first := f.estimates[0]
	far := first.seconds > worth*s.least
	if far && s.ranks > many {
		return s.unplayed(first)
	}
	best, whole := s.plan(first, s.limit(s.fastest))
	if far || !whole || s.ranks > many {
		return best
	}
	for _, g := range f.estimates[1:min(tries, len(f.estimates))] {
		if c, ok := s.plan(g, best.Predicted); ok && c.Predicted < best.Predicted {
			best = c
		}
	}
	return s.fewer(best, f.estimates)
}

// fewer returns the plan with the longest usual segments among those that are as good as the best, with its settings: a
// plan of fewer messages depends on less that is not predicted.
func (s *search) fewer(best Plan, estimates []estimate) Plan {
	enough := asGood * best.Predicted
	chosen := best
	for _, g := range estimates {
		if g.index == best.Index && g.segment <= usualSegment && s.length(g.segment) > s.length(chosen.Segment) && g.seconds <= enough {
			if c, whole := s.plan(g, enough); whole && c.Predicted <= enough {
				chosen = c
			}
		}
	}
	return chosen
}

// unplayed is a plan with its estimate.
func (s *search) unplayed(g estimate) Plan {
	nan := math.NaN()
	return Plan{Algorithm: s.list[g.index], Index: g.index, Segment: g.segment, Predicted: g.seconds, Measured: nan, MeasuredNative: nan}
}

// plan is a plan with its prediction. If that is above the limit, Predicted is the estimate, or what the plan takes at
// least, and whole is false.
func (s *search) plan(g estimate, limit float64) (c Plan, whole bool) {
	c = s.unplayed(g)
	t, whole := s.predict(g.index, g.segment, limit)
	if c.Predicted = t; !whole {
		c.Predicted = max(t, g.seconds)
	}
	return c, whole
}

// predict is the prediction, which is worked out once. If it is above the limit, predict returns a time above the limit
// that the plan takes at least, and false.
func (s *search) predict(index, segment int, limit float64) (seconds float64, whole bool) {
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
