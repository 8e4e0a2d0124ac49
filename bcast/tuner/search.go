package tuner

import (
	"cmp"
	"slices"
)

// A Search finds the variant that serves one class of messages. The incumbent stays unless another one beats it. Every rank
// has a search of the same fields, except for those that rank 0 alone needs.
//
// A stored variant is confirmed first. If it is not, the candidates are ranked, and the segments of two are
// refined. The faster one then has to win a duel with the incumbent.
type Search struct {
	Watch      *Stopwatch
	Bytes      int   // of the message
	Roots      []int // from which variants are compared: see SampleRoots
	MinSegment int   // bytes of the shortest segment that is tried
	Blocking   bool  // the kind of transfers is refined, too

	// Compile returns a function that performs a variant from a root, for the first so many bytes of the message. It sends
	// nothing. Its function is collective.
	Compile func(v Variant, root int) func(bytes int) error

	// What rank 0 alone needs.
	Limit      float64                 // s: no round begins that would not end by then; +Inf: none
	Stored     *Variant                // a variant that has won in an earlier job; nil: none
	Candidates func() []Variant        // the best by prediction first
	Predict    func(v Variant) float64 // s; nil: nothing is predicted
}

// Decide is collective: it performs the search of rank 0.
func (s *Search) Decide() (Decision, error) {
	var d Decision
	type at struct {
		Variant
		root int
	}
	compiled := make(map[at]func(bytes int) error)
	err := s.Watch.Conduct(func(run func(Session)) { d = s.lead(s.Watch.Now(), run) }, func(v Variant, r Round) (Sample, error) {
		for _, root := range r.Roots { // before the time is taken
			if compiled[at{v, root}] == nil {
				compiled[at{v, root}] = s.Compile(v, root)
			}
		}
		bytes := s.Bytes
		if r.Head {
			bytes = min(bytes, headBytes)
		}
		return s.Watch.Time(func(root int) error { return compiled[at{v, root}](bytes) }, r.Roots...)
	})
	if err == nil {
		err = s.Watch.tell(&d)
	}
	if err != nil {
		return Decision{}, err
	}
	times := []float64{d.Predicted, d.Measured, d.Incumbent} // NaN is no number of JSON
	err = s.Watch.tree.TellFloats(times)
	d.Predicted, d.Measured, d.Incumbent = times[0], times[1], times[2]
	return d, err
}

// lead is the part of rank 0, from the time now in s on. run performs the rounds of a session.
func (s *Search) lead(now float64, run func(Session)) Decision {
	c := &contest{roots: s.Roots, oneHost: s.Watch.clocks.oneHost, margin: usualMargin, limit: s.Limit, begun: now, batch: 1}
	if s.Watch.oversubscribed {
		c.margin = oversubscribedMargin
	}
	incumbent := Variant{Index: Incumbent}
	if s.Stored != nil {
		confirmation := c.duel(*s.Stored, incumbent, surePairs)
		run(c.warmUp([]Variant{incumbent, *s.Stored}))
		run(confirmation)
		if d := confirmation.decision(); d.Wins {
			return d
		}
	}
	candidates := s.Candidates()
	if len(candidates) == 0 {
		return c.duel(incumbent, incumbent, mostPairs).decision() // without a pair: nothing is decided
	}
	run(c.warmUp(append([]Variant{incumbent}, candidates...)))
	best := s.best(c, candidates, run)
	decisive := c.duel(best, incumbent, mostPairs)
	run(decisive)
	d := decisive.decision()
	if d.Wins && s.Predict != nil {
		d.Predicted = s.Predict(best)
	}
	return d
}

// best is the fastest of the candidates. Predictions choose their segments, and err by a factor of two or more where a network
// was measured under load, or a library changes how it sends. So a candidate may be behind for its segment alone, and the two best
// that differ in more than that are refined. Where time is short only the best is.
func (s *Search) best(c *contest, candidates []Variant, run func(Session)) Variant {
	began := c.begun
	ranked := rank(c, candidates, 2, run)
	finalists := ranked[:1]
	isEarly := c.limit-c.begun > 3*(c.begun-began)
	if i := slices.IndexFunc(ranked, func(v Variant) bool { return v.Index != ranked[0].Index }); isEarly && i > 0 {
		finalists = []Variant{ranked[0], ranked[i]}
	}
	for i := range finalists {
		finalists[i] = s.refine(c, finalists[i], run)
	}
	best := rank(c, finalists, 1, run)[0]
	if s.Blocking {
		blocking := best
		blocking.Blocking = true
		best = rank(c, []Variant{best, blocking}, 1, run)[0]
	}
	return best
}

// rank orders the variants to find so many of them.
func rank(c *contest, variants []Variant, wanted int, run func(Session)) []Variant {
	ranking := c.rank(variants, wanted)
	run(ranking)
	return ranking.ranked
}

// refine returns a variant with the segment that is measured to be fastest. It is halved or doubled for as long as that helps.
func (s *Search) refine(c *contest, best Variant, run func(Session)) Variant {
	tried := map[int]bool{best.Segment: true}
	for moved := true; moved; {
		near := []Variant{best}
		whole := cmp.Or(best.Segment, s.Bytes)
		for _, segment := range []int{whole / 2, whole * 2} {
			if segment >= s.MinSegment && segment < s.Bytes && !tried[segment] {
				tried[segment] = true
				next := best
				next.Segment = segment
				near = append(near, next)
			}
		}
		next := rank(c, near, 1, run)[0]
		moved, best = next != best, next
	}
	return best
}
