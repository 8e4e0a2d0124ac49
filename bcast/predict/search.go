package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

const (
	MinSegment   = 1 << 10 // bytes; shorter ones only cost software
	usualSegment = 8 << 10 // bytes; good on most networks, as libraries send it without a handshake
	longSegment  = 8 * usualSegment
)

// asGood is how many times the best prediction another one may be and still be
// as good: predictions of broadcasts in segments are no better.
const asGood = 1.03

// A Candidate is a plan that is known by the index of its algorithm and
// settings in a list that all ranks have.
type Candidate struct {
	Plan
	Index int // of the algorithm, in the list that was asked for
}

// Candidates returns each algorithm once, with the settings and the segment
// that are predicted to be fastest, fastest first. Of those that are as good as
// the fastest the first of the list comes first: it is the simplest. In the list
// the settings of one algorithm follow each other (schedule.Variants). Where the
// network has gaps, guesses fill them to order the plans, and Predicted is NaN; so
// it is of algorithms with too many steps to be played. With more than 512 ranks
// that of an algorithm that has no chance is what it seems at first sight.
func (e *Evaluator) Candidates(list []schedule.Algorithm, bytes, root int) []Candidate {
	s := newSearch(e, list, bytes, root)
	var best []Candidate
	for _, f := range s.families {
		best = append(best, s.best(f))
	}
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
	s := newSearch(e, list, bytes, root)
	var all []Candidate
	fastest := math.Inf(1)
	for _, f := range s.families {
		best := s.best(f)
		all = append(all, best)
		fastest = min(fastest, best.Predicted)
		for _, g := range s.glances[f.from] {
			if g.index == best.Index && alike(g.segment, best.Segment, bytes) {
				continue
			}
			all = append(all, s.seen(g))
		}
	}
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
// It glances at many, which costs one segment each, plays few, and lets go of
// algorithms that have no chance.
type search struct {
	*Evaluator
	list     []schedule.Algorithm
	problem  schedule.Problem
	guessed  bool // some time of the network was guessed
	families []family
	glances  map[int][]glance // by the family's first index: the settings that were looked into
	least    float64          // s, the fastest at first sight
	played   map[[2]int]float64
	ways     []way // storage of atLeast
}

// A family are the settings list[from:to] of one algorithm.
type family struct {
	from, to int
	first    []glance // of each, with the segment that seems best at first sight
}

// A glance is what a plan seems to take.
type glance struct {
	index, segment int
	seconds        float64
}

const (
	looked = 3       // settings of an algorithm of which all segments are looked at
	tested = 3       // plans of an algorithm that are played
	chance = 1.5     // times the fastest at first sight: beyond, one plan of the algorithm is played
	most   = 4 << 20 // steps of all ranks that are played: more take seconds
	many   = 512     // ranks, of which each look takes milliseconds: fewer looks
)

func newSearch(e *Evaluator, list []schedule.Algorithm, bytes, root int) *search {
	s := &search{
		Evaluator: e, list: list, least: math.Inf(1), glances: make(map[int][]glance), played: make(map[[2]int]float64),
		problem: schedule.Problem{Ranks: e.ranks, Root: root, Bytes: bytes, Tree: e.along, Costs: e.costs},
	}
	g, gaps := e.transfers.(*guess)
	if gaps {
		g.used = false
	}
	// From the last one on: algorithms that follow the groups come last in schedule.Algorithms, and with many ranks
	// leave no chance to most of the others.
	for to := len(list); to > 0; {
		from := to - 1
		for from > 0 && list[from-1].Name() == list[from].Name() {
			from--
		}
		f := family{from: from, to: to}
		if v, ok := list[from].(schedule.Factored); ok {
			f.first = s.descend(f, v.Factors(s.problem))
		} else {
			for i := from; i < to; i++ {
				f.first = append(f.first, s.sight(i))
			}
		}
		slices.SortStableFunc(f.first, func(a, b glance) int { return cmp.Compare(a.seconds, b.seconds) })
		s.least = min(s.least, s.surely(f.first[0]))
		s.families = append(s.families, f)
		to = from
	}
	slices.Reverse(s.families)
	s.guessed = gaps && g.used
	return s
}

// surely is what a plan takes, if it seems to take something else than it does where few pieces tell little.
func (s *search) surely(g glance) float64 {
	if schedule.AlongOneTree(s.list[g.index]) || s.ranks > many || math.IsInf(g.seconds, 1) {
		return g.seconds
	}
	return s.predict(g.index, g.segment)
}

// playable tells whether the steps of an algorithm are few enough.
func (s *search) playable(a schedule.Algorithm) bool {
	if _, ok := a.(schedule.Planner); ok {
		return true
	}
	p := s.problem
	p.Segment = usualSegment
	if p.Pieces() > leastPlain {
		p.Bytes = leastPlain * usualSegment
	}
	return len(schedule.PartOf(a, p, (p.Root+1)%p.Ranks).Ops(nil, p))*p.Ranks <= most
}

// sight is the best one of a whole message, long and usual segments, and the shortest.
func (s *search) sight(index int) glance {
	if !s.playable(s.list[index]) {
		return glance{index, 0, math.Inf(1)}
	}
	if s.ranks > many {
		segment := usualSegment
		if s.problem.Bytes <= usualSegment || undivided(s.list[index]) {
			segment = 0
		}
		if t := s.atLeast(index); t > chance*s.least {
			return glance{index, segment, t}
		}
		g := s.glance(index, segment)
		s.least = min(s.least, g.seconds)
		return g
	}
	best := s.glance(index, 0)
	if undivided(s.list[index]) {
		return best
	}
	for _, segment := range [...]int{longSegment, usualSegment, MinSegment} { // the last fills long chains with short messages
		if s.problem.Bytes > segment {
			if g := s.glance(index, segment); g.seconds < best.seconds {
				best = g
			}
		}
	}
	return best
}

// atLeast is the time in s for which the root, or another rank, or the link of one, is busy, in usual segments. Most of
// what does badly among many ranks does so because the root sends too much.
func (s *search) atLeast(index int) float64 {
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
			s.ways = s.wiring.ways(s.ways[:0], src, dst, int64(bytes), busy, 0)
			return s.ways[0].own, s.ways[len(s.ways)-1].own
		}
		s.spare = apart(s.spare[:0], schedule.PartOf(s.list[index], p, rank).Ops(nil, p))
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
func (s *search) descend(f family, bases []int) []glance {
	seen := make(map[int]glance)
	look := func(digits []int) glance {
		i := 0
		for k, base := range bases {
			i = i*base + digits[k]
		}
		g, ok := seen[i]
		if !ok {
			g = s.sight(f.from + i)
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
	all := make([]glance, 0, len(seen))
	for _, g := range seen {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b glance) int { return a.index - b.index })
	return all
}

// glance plays one segment through an empty network, and takes it that the others
// follow as fast as the busiest way or rank can: first + (k - 1) pace. Of an algorithm
// in which ranks have several parents it plays two.
func (s *search) glance(index, segment int) glance {
	p := s.problem
	p.Segment = segment
	k := p.Pieces()
	if k < 2 {
		return glance{index, segment, s.predict(index, segment)}
	}
	s.coarse = true
	defer func() { s.coarse = false }()
	if !schedule.AlongOneTree(s.list[index]) {
		return glance{index, segment, s.extrapolate(s.list[index], p, k, 2)}
	}
	p.Bytes = p.PieceBytes()
	s.schedule(s.list[index], p)
	first, _ := s.evaluate(0)
	return glance{index, segment, first + s.busiest()*float64(k-1)}
}

// predict is the prediction, which is worked out once.
func (s *search) predict(index, segment int) float64 {
	t, ok := s.played[[2]int{index, segment}]
	if !ok {
		p := s.problem
		p.Segment = segment
		t = s.Predict(s.list[index], p)
		s.played[[2]int{index, segment}] = t
	}
	return t
}

// candidate is a plan with its prediction.
func (s *search) candidate(g glance) Candidate {
	c := s.seen(g)
	if !math.IsInf(g.seconds, 1) {
		c.Predicted = s.predict(g.index, g.segment)
	}
	return c
}

// seen is a plan with what it seems to take.
func (s *search) seen(g glance) Candidate {
	nan := math.NaN()
	return Candidate{Plan{Algorithm: s.list[g.index], Segment: g.segment, Predicted: g.seconds, Measured: nan, MeasuredNative: nan}, g.index}
}

// best looks for the settings and the segment that an algorithm does best with.
func (s *search) best(f family) Candidate {
	if g := f.first[0]; g.seconds > chance*s.least {
		if s.ranks > many {
			return s.seen(g)
		}
		return s.candidate(g)
	}
	looked, tested := looked, tested
	if s.ranks > many {
		looked, tested = 1, 1
	}
	for _, g := range f.first[:min(looked, len(f.first))] {
		s.glances[f.from] = append(s.glances[f.from], s.segments(g)...)
	}
	all := slices.Clone(s.glances[f.from])
	slices.SortStableFunc(all, func(a, b glance) int { return cmp.Compare(a.seconds, b.seconds) })
	best := s.candidate(all[0])
	for _, g := range all[1:min(tested, len(all))] {
		if c := s.candidate(g); c.Predicted < best.Predicted {
			best = c
		}
	}
	return s.usual(best)
}

// segments glances at an algorithm with the whole message, and with all powers of
// two below it; with many ranks, with those from the one of a first glance on, both ways, for as long as that
// helps.
func (s *search) segments(first glance) []glance {
	if undivided(s.list[first.index]) {
		return []glance{first}
	}
	all := []glance{s.glance(first.index, 0)}
	if s.ranks <= many || first.segment == 0 {
		for segment := powerBelow(s.problem.Bytes); segment >= MinSegment; segment /= 2 {
			all = append(all, s.glance(first.index, segment))
		}
		return all
	}
	all = append(all, first)
	for _, way := range [...]func(int) int{func(x int) int { return 2 * x }, func(x int) int { return x / 2 }} {
		last := first
		for segment := way(first.segment); segment >= MinSegment && segment < s.problem.Bytes; segment = way(segment) {
			g := s.glance(first.index, segment)
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

// usual is a plan with the most usual of the segments that do as well as that of
// the given one, within what a prediction is worth: the whole message, or else the
// longest segment up to usualSegment, or else the shortest.
func (s *search) usual(best Candidate) Candidate {
	enough, chosen := asGood*best.Predicted, best
	try := func(segment int) bool {
		t := s.predict(best.Index, segment)
		if t > enough {
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

// order sorts plans by their predictions, but for the first of the list among
// those that are as good as the fastest.
func order(plans []Candidate) {
	slices.SortStableFunc(plans, func(a, b Candidate) int { return cmp.Compare(a.Predicted, b.Predicted) })
	first := 0
	for i := range plans {
		if plans[i].Predicted <= asGood*plans[0].Predicted && plans[i].Index < plans[first].Index {
			first = i
		}
	}
	c := plans[first]
	copy(plans[1:first+1], plans[:first])
	plans[0] = c
}

// Order sorts plans that were searched for apart by their predictions, those without one last.
func Order(plans []Candidate) {
	least := func(c Candidate) float64 {
		if math.IsNaN(c.Predicted) {
			return math.Inf(1)
		}
		return c.Predicted
	}
	slices.SortStableFunc(plans, func(a, b Candidate) int { return cmp.Compare(least(a), least(b)) })
}

// hide takes away predictions that are guesses: good enough to choose by, not to
// be told.
func (s *search) hide(plans []Candidate) {
	for i := range plans {
		p := s.problem
		p.Segment = plans[i].Segment
		if math.IsInf(plans[i].Predicted, 1) || s.guessed && s.guesses(plans[i].Algorithm, p) {
			plans[i].Predicted = math.NaN()
		}
	}
}

// Sure is Predict, or NaN where that rests on times that the network does not know.
func (e *Evaluator) Sure(a schedule.Algorithm, p schedule.Problem) float64 {
	if e.guesses(a, p) {
		return math.NaN()
	}
	return e.Predict(a, p)
}

// guesses tells whether a prediction rests on times that the network does not
// know.
func (e *Evaluator) guesses(a schedule.Algorithm, p schedule.Problem) bool {
	g, ok := e.transfers.(*guess)
	if !ok {
		return false
	}
	g.used = false
	e.Predict(a, p)
	return g.used
}

// powerBelow is the largest power of two below n, 0 if there is none.
func powerBelow(n int) int {
	s := 0
	for t := 1; t < n; t *= 2 {
		s = t
	}
	return s
}
