package predict

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

// The search for plans has two steps. First the settings of each algorithm, and the segment, are changed one at a time
// for as long as that lowers an estimate, which costs a segment or two. Then the best plan of each algorithm is played.

// MinSegment is the length in bytes of the shortest segments that are looked at: shorter ones only cost overhead.
const MinSegment = 1 << 10

const (
	// usualSegment is the length in bytes of the segments from which the search starts. Up to that length a longer
	// segment is preferred: MPI libraries send it without a handshake.
	usualSegment = 8 << 10

	// worth is how many times as long as the fastest plan another one may take to be of interest: predictions are no
	// worse than that.
	worth = 2

	// With more ranks than many an estimate takes milliseconds: there are fewer of them, and plans of no interest are not
	// played to the end.
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
	for i, estimates := range s.families {
		best := all[i]
		for _, g := range estimates {
			if g.index != best.Index || !alike(g.segment, best.Segment, bytes) {
				all = append(all, s.plan(g.variant, g.seconds))
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
		if c.Predicted = s.predict(variant{c.Index, c.Segment}, math.Inf(1)); c.Predicted > worth*s.fastest {
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
	segments []int        // bytes, the longest first
	families [][]estimate // of each algorithm, the fastest first
	least    float64      // s, the fastest estimate
	fastest  float64      // s, the least prediction
	played   map[variant]float64
	guesses  map[variant]bool // what was learnt of them rests on guesses
}

// A variant is an algorithm of the list, and a segment in bytes; 0: the message is sent whole.
type variant struct{ index, segment int }

// An estimate is what a plan seems to take. Above the limit of the search it is a time that the plan takes at least.
type estimate struct {
	variant
	seconds float64
}

func newSearch(e *Evaluator, list []schedule.Algorithm, bytes, root int) *search {
	s := &search{
		Evaluator: e, list: list, segments: []int{0}, least: math.Inf(1), fastest: math.Inf(1),
		played: make(map[variant]float64), guesses: make(map[variant]bool),
		problem: schedule.Problem{Ranks: e.ranks, Root: root, Bytes: bytes, Tree: e.tree, Costs: e.costs},
	}
	for segment := MinSegment; segment < min(bytes, schedule.MaxSegment); segment *= 2 { // longer ones are cut
		s.segments = slices.Insert(s.segments, 1, segment)
	}
	e.guessed()
	// From the last algorithm on: those that follow costs or groups come last in schedule.Algorithms, and leave little
	// chance to most of the others.
	for to := len(list); to > 0; {
		from := to - 1
		for from > 0 && list[from-1].Name() == list[from].Name() {
			from--
		}
		s.families = append(s.families, s.descend(from, to))
		to = from
	}
	return s
}

// length is that of the longest piece in bytes.
func (s *search) length(segment int) int { return cmp.Or(segment, s.problem.Bytes) }

// A descent estimates variants of one algorithm. The choices are the values of its settings, and then the index of the
// segment.
type descent struct {
	*search
	first   int   // the index of the first variant
	bases   []int // how many values each choice has
	choices []int
	best    estimate
	seen    map[variant]estimate
}

// descend estimates the variants list[from:to] of one algorithm. It starts from the first value of each setting, from the
// second, and so on, and from the longest usual segment.
func (s *search) descend(from, to int) []estimate {
	settings := []int{to - from}
	if v, ok := s.list[from].(schedule.Varied); ok && to > from+1 {
		settings, _ = v.Settings(s.problem)
	}
	usual := slices.IndexFunc(s.segments, func(segment int) bool { return s.length(segment) <= usualSegment })
	d := descent{search: s, first: from, bases: append(slices.Clone(settings), len(s.segments)), seen: make(map[variant]estimate)}
	starts := slices.Max(d.bases[:len(settings)])
	if s.ranks > many {
		starts = 1
	}
	for start := range starts {
		d.choices = d.choices[:0]
		for _, base := range settings {
			d.choices = append(d.choices, min(start, base-1))
		}
		d.choices = append(d.choices, usual)
		d.run()
	}
	return slices.SortedFunc(maps.Values(d.seen), func(a, b estimate) int {
		return cmp.Or(cmp.Compare(a.seconds, b.seconds), cmp.Compare(a.index, b.index), cmp.Compare(b.segment, a.segment))
	})
}

// run changes one choice after the other, until no change of one alone is faster.
func (d *descent) run() {
	d.best = d.look()
	segment := len(d.bases) - 1
	for better := true; better; {
		better = false
		for k, base := range d.bases[:segment] {
			for value := range base {
				better = d.try(k, value) || better
			}
		}
		if d.best.seconds > d.limit(d.least) {
			continue // segments do not help as much
		}
		// The message is sent whole, or one segment is best and times grow from there on in both directions.
		better = d.try(segment, 0) || better
		for _, step := range [...]int{1, -1} {
			for d.try(segment, d.choices[segment]+step) {
				better = true
			}
		}
	}
}

// try changes one choice, and tells whether that is faster. Otherwise the choice stays as it was.
func (d *descent) try(k, choice int) bool {
	if choice < 0 || choice >= d.bases[k] {
		return false
	}
	kept := d.choices[k]
	d.choices[k] = choice
	g := d.look()
	if g.seconds < d.best.seconds {
		d.best = g
		return true
	}
	d.choices[k] = kept
	return false
}

// look is the estimate of the current choices, which is made once.
func (d *descent) look() estimate {
	index, last := 0, len(d.choices)-1
	for k, choice := range d.choices[:last] {
		index = index*d.bases[k] + choice
	}
	v := variant{d.first + index, d.segments[d.choices[last]]}
	if _, ok := d.seen[v]; !ok {
		d.seen[v] = estimate{v, d.estimate(v)}
		d.guesses[v] = d.guessed() || d.guesses[v]
		d.least = min(d.least, d.seen[v].seconds)
	}
	return d.seen[v]
}

// estimate plays one segment of a tree through an empty network, and takes it that the others
// follow as fast as the busiest link or rank can: first + (k - 1) pace. Of an algorithm
// in which ranks have several parents it plays two.
func (s *search) estimate(v variant) float64 {
	p, limit := s.of(v), s.limit(s.least)
	k := p.Pieces()
	if k < 2 {
		return s.predict(v, limit)
	}
	s.coarse = true
	defer func() { s.coarse = false }()
	parts := s.list[v.index].Prepare(p)
	if _, tree := parts.(*schedule.Tree); !tree {
		return s.extrapolate(parts, p, 2, limit)
	}
	p.Bytes = p.PieceBytes()
	s.schedule(parts, p)
	first := s.evaluate(limit)
	return first + s.busiest()*float64(k-1)
}

// of is the problem in the segments of a variant.
func (s *search) of(v variant) schedule.Problem {
	p := s.problem
	p.Segment = v.segment
	return p
}

// limit is the time in s at which a plan is not played on, if the fastest takes the given time.
func (s *search) limit(fastest float64) float64 {
	if s.ranks <= many {
		return math.Inf(1)
	}
	return worth * fastest
}

// all is the best plan of each family. Those that seem fastest come first.
func (s *search) all() []Plan {
	slices.SortStableFunc(s.families, func(a, b []estimate) int { return cmp.Compare(a[0].seconds, b[0].seconds) })
	var best []Plan
	for _, estimates := range s.families {
		c := s.best(estimates)
		s.fastest = min(s.fastest, c.Predicted)
		best = append(best, c)
	}
	return best
}

// best plays the plan of an algorithm that seems fastest. If it is of interest, best returns the plan with the longest
// usual segments among those that are as good, with the same settings: a plan of fewer messages depends on less that is
// not predicted.
func (s *search) best(estimates []estimate) Plan {
	first := estimates[0]
	if first.seconds > s.limit(s.least) {
		return s.plan(first.variant, first.seconds)
	}
	best := s.plan(first.variant, s.predict(first.variant, s.limit(s.fastest)))
	if first.seconds > worth*s.least {
		return best
	}
	enough := asGood * best.Predicted
	for _, segment := range s.segments {
		v := variant{best.Index, segment}
		i := slices.IndexFunc(estimates, func(g estimate) bool { return g.variant == v && g.seconds <= enough })
		if i < 0 || segment > usualSegment || s.length(segment) <= s.length(best.Segment) {
			continue
		}
		if t := s.predict(v, enough); t <= enough {
			return s.plan(v, t)
		}
	}
	return best
}

// plan is a variant with its prediction, or an estimate of it.
func (s *search) plan(v variant, seconds float64) Plan {
	nan := math.NaN()
	return Plan{Algorithm: s.list[v.index], Index: v.index, Segment: v.segment, Predicted: seconds, Measured: nan, MeasuredNative: nan}
}

// predict is the prediction, which is worked out once. If it is above the limit, predict returns a time above the limit
// that the plan takes at least.
func (s *search) predict(v variant, limit float64) float64 {
	if t, ok := s.played[v]; ok {
		return t
	}
	t := s.within(s.list[v.index], s.of(v), limit)
	s.guesses[v] = s.guessed() || s.guesses[v]
	if t <= limit {
		s.played[v] = t
	}
	return t
}

// hide takes away predictions that are guesses: good enough to choose by, not to be told.
func (s *search) hide(plans []Plan) {
	for i, c := range plans {
		if math.IsInf(c.Predicted, 1) || s.guesses[variant{c.Index, c.Segment}] {
			plans[i].Predicted = math.NaN()
		}
	}
}
