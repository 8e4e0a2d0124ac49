package tuner

import "cmp"

// A Search finds the variant that serves one class of messages. The incumbent stays unless another one beats it. Every rank
// has a search of the same fields, except for those that rank 0 alone needs.
//
// A stored variant is confirmed first. If it is not, the candidates are ranked, and the segment of the first one is
// refined. What comes out of that has to win a duel with the incumbent.
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
		confirmation := c.duel(*s.Stored, incumbent, shortPairs)
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
	best := s.refine(c, fastest(c, candidates, run), run)
	decisive := c.duel(best, incumbent, mostPairs)
	run(decisive)
	d := decisive.decision()
	if d.Wins && s.Predict != nil {
		d.Predicted = s.Predict(best)
	}
	return d
}

// fastest is the first of the ranked variants.
func fastest(c *contest, variants []Variant, run func(Session)) Variant {
	ranking := c.rank(variants)
	run(ranking)
	return ranking.ranked[0]
}

// refine returns a variant with the segment, and the kind of transfers, that are measured to be fastest. The segment is
// halved or doubled for as long as that helps. Predictions err by that much where a network was measured under load, or a
// library changes how it sends.
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
		next := fastest(c, near, run)
		moved, best = next != best, next
	}
	if s.Blocking {
		blocking := best
		blocking.Blocking = true
		best = fastest(c, []Variant{best, blocking}, run)
	}
	return best
}
