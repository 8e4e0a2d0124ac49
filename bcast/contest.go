package bcast

import (
	"cmp"
	"fmt"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
)

// A contest is the making of one decision. Rank 0 has the sessions of package tuner and says in each round what is
// timed. The others follow.
type contest struct {
	b     *Broadcaster
	buf   []byte
	roots []int // from which variants are compared
	plans []predict.Plan
	ready map[planAt]*compiledPlan
}

// A planAt is a plan of a round, which has no times, from a root.
type planAt struct {
	orderedPlan
	root int
}

// contest is collective: it returns the decision for messages like buf, which holds the same bytes on all ranks.
// stored is what the network's table says; nil: nothing. budget is in s.
func (b *Broadcaster) contest(stored *decision, buf []byte, root int, budget float64) (*decision, error) {
	watch, err := b.stopwatch()
	if err != nil {
		return nil, err
	}
	limit := watch.Now() + budget
	if err := b.measureGroups(len(buf), limit); err != nil {
		return nil, err
	}
	c := &contest{b: b, buf: buf, roots: tuner.SampleRoots(b.rootClass, b.ranks, root), ready: make(map[planAt]*compiledPlan)}
	if b.comm.Rank() != 0 {
		return c.follow()
	}
	d, err := c.search(stored, limit)
	if err != nil { // of the communicator: nobody can be informed
		return nil, err
	}
	end := order{Plans: []orderedPlan{ordered(&d.Plan)}, Decided: d.decided, Pairs: d.pairs}
	return d, b.distribute(&end, nil)
}

// follow performs the rounds that rank 0 distributes, and returns the decision.
func (c *contest) follow() (*decision, error) {
	for {
		var o order
		if err := c.b.distribute(&o, nil); err != nil {
			return nil, err
		}
		if o.Roots == nil {
			return &decision{Plan: c.b.planOf(o.Plans[0]), decided: o.Decided, pairs: o.Pairs}, nil
		}
		if _, err := c.round(&o); err != nil {
			return nil, err
		}
	}
}

// round is collective: it times the plans of an order, one after the other. Rank 0 gets the samples.
func (c *contest) round(o *order) ([]tuner.Sample, error) {
	b := c.b
	if err := b.watch.Refresh(); err != nil {
		return nil, fmt.Errorf("bcast: %w", err)
	}
	buf := c.buf
	if o.Head {
		buf = buf[:min(len(buf), tuner.HeadBytes)]
	}
	var samples []tuner.Sample
	for _, p := range o.Plans {
		variant := func(buf []byte, root int) error {
			return b.perform(c.compiled(p, root), buf, root)
		}
		for _, root := range o.Roots { // before the time is taken
			c.compiled(p, root)
		}
		s, err := b.watch.Time(variant, buf, o.Roots...)
		if err != nil {
			return nil, fmt.Errorf("bcast: %w", err)
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// compiled is a plan of an order, compiled for a root.
func (c *contest) compiled(o orderedPlan, root int) *compiledPlan {
	at := planAt{o, root}
	if c.ready[at] == nil {
		c.ready[at] = c.b.compile(c.b.planOf(o), len(c.buf), root)
	}
	return c.ready[at]
}

// conduct performs the rounds of a session. Rank 0 alone calls it. Its errors are those of the communicator.
func (c *contest) conduct(s tuner.Session) error {
	for {
		round, on := s.Next(c.b.watch.Now())
		if !on {
			return nil
		}
		o := order{Roots: round.Roots, Head: round.Head}
		for _, variant := range round.Variants {
			p := ordered(&c.plans[variant])
			p.Predicted, p.Measured, p.Native = 0, 0, 0
			o.Plans = append(o.Plans, p)
		}
		if err := c.b.distribute(&o, nil); err != nil {
			return err
		}
		samples, err := c.round(&o)
		if err != nil {
			return err
		}
		s.Add(samples)
	}
}

// nativeVariant is the number of the native broadcast among the plans of a contest.
const nativeVariant = 0

// search decides. A stored plan is confirmed first. If it is not, the plans that are predicted to be best are ranked.
// The first of them is refined, and what comes out of that has to win a duel with native.
func (c *contest) search(stored *decision, limit float64) (*decision, error) {
	rules := tuner.NewContest(tuner.Settings{Roots: c.roots, OneHost: c.b.watch.OneHost(), Oversubscribed: c.b.oversubscribed, Limit: limit}, c.b.watch.Now())
	c.plans = []predict.Plan{nativePlan()}
	if stored != nil {
		c.plans = append(c.plans, stored.Plan)
		if err := c.conduct(rules.WarmUp([]int{nativeVariant, 1})); err != nil {
			return nil, err
		}
		duel := rules.Confirm(1, nativeVariant)
		if err := c.conduct(duel); err != nil {
			return nil, err
		}
		if v := duel.Verdict(); v.Wins {
			return c.conclude(stored.Plan, v), nil
		}
		c.plans = c.plans[:1]
	}
	c.plans = append(c.plans, c.b.shortlist(len(c.buf), c.roots[0])...)
	if err := c.conduct(rules.WarmUp(c.variants(0))); err != nil {
		return nil, err
	}
	best, err := c.best(rules, c.variants(1))
	if err != nil {
		return nil, err
	}
	if best, err = c.refine(rules, best); err != nil {
		return nil, err
	}
	duel := rules.Duel(best, nativeVariant)
	if err := c.conduct(duel); err != nil {
		return nil, err
	}
	return c.conclude(c.plans[best], duel.Verdict()), nil
}

// variants are the numbers of the plans from one on.
func (c *contest) variants(from int) (list []int) {
	for i := from; i < len(c.plans); i++ {
		list = append(list, i)
	}
	return list
}

// best is the fastest of some variants.
func (c *contest) best(rules *tuner.Contest, variants []int) (int, error) {
	ranking := rules.Rank(variants)
	err := c.conduct(ranking)
	return ranking.Ranked()[0], err
}

// conclude is the decision that a verdict leads to.
func (c *contest) conclude(challenger predict.Plan, v tuner.Verdict) *decision {
	d := &decision{Plan: challenger, decided: v.Decided, pairs: v.Pairs}
	d.Measured, d.MeasuredNative = v.Challenger.Cold, v.Incumbent.Cold
	if !v.Wins {
		d.Plan = nativePlan()
		d.Measured, d.MeasuredNative = v.Incumbent.Cold, v.Incumbent.Cold
	}
	return d
}

// refine returns the variant of the best plan with the segment, and the kind of transfers, that are measured to be
// fastest. The segment is halved or doubled for as long as that helps. Predictions err by that much where a network was
// measured under load, or a library changes how it sends.
func (c *contest) refine(rules *tuner.Contest, best int) (int, error) {
	first, bytes := best, len(c.buf)
	tried := map[int]bool{c.plans[best].Segment: true}
	for moved := -1; moved != best; {
		moved = best
		near := []int{best}
		whole := cmp.Or(c.plans[best].Segment, bytes)
		for _, segment := range []int{whole / 2, whole * 2} {
			if segment >= predict.MinSegment && segment < bytes && !tried[segment] {
				tried[segment] = true
				near = append(near, c.add(best, func(p *predict.Plan) { p.Segment = segment }))
			}
		}
		var err error
		if best, err = c.best(rules, near); err != nil {
			return best, err
		}
	}
	if c.b.exec.canOverlap() && bytes > shortBytes {
		var err error
		if best, err = c.best(rules, []int{best, c.add(best, func(p *predict.Plan) { p.Blocking = true })}); err != nil {
			return best, err
		}
	}
	if p := &c.plans[best]; p.Segment != c.plans[first].Segment {
		p.Predicted = c.b.predictor().Sure(p.Algorithm, c.b.problem(*p, classBytes(bytes), c.roots[0]))
	}
	return best, nil
}

// add adds a plan like another one to those of the contest, and returns its number.
func (c *contest) add(like int, change func(*predict.Plan)) int {
	p := c.plans[like]
	change(&p)
	c.plans = append(c.plans, p)
	return len(c.plans) - 1
}
