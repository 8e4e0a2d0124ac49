package bcast

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// tried is the number of plans, the best by prediction, that are timed.
const tried = 3

// decide is collective: it finds the route for the size of buf, the same on
// all ranks, and broadcasts buf on the way. The root knows best what is fast
// for it; the others are told, as two machines may round predictions apart.
func (b *Broadcaster) decide(buf []byte, root int) error {
	c := &b.classes[classOf(len(buf))]
	if c.roots == nil {
		c.roots = make([]*route, b.ranks)
	}
	if c.timed != nil {
		// Trees are shaped from their root, so what is best for one root mostly
		// is for another, and timing each would cost more than it could win.
		c.roots[root] = b.newRoute(*c.timed, root)
		return b.follow(c.roots[root], buf, root)
	}
	crew := newCrew(b.exec, root)
	var plans []candidate
	if crew.isRoot() {
		var err error
		if plans, err = b.candidates(len(buf), root); err != nil {
			return err
		}
	}
	if b.native == nil || b.modelOnly {
		plans, err := b.tellPlans(crew, plans[:min(1, len(plans))])
		if err != nil {
			return err
		}
		c.roots[root] = b.newRoute(plans[0], root)
		return b.follow(c.roots[root], buf, root)
	}
	plans, err := b.tellPlans(crew, plans[:min(tried, len(plans))])
	if err != nil {
		return err
	}
	best, err := b.fastest(crew, plans, buf)
	if err != nil {
		return err
	}
	c.timed = &best
	c.roots[root] = b.newRoute(best, root)
	return nil // buf has been broadcast while it was timed
}

// A segment's neighbours are tried if nearTrials broadcasts fit the budget, three plans of which run
// twice at least, with the native one. They lie two steps of bestSegment off: one changes times little.
const (
	nearTrials = 8
	nearFactor = 4
)

// crowdedMargin is how many times as fast a plan has to be to go before another, with more ranks than
// cores: the scheduler moves medians by some percent there.
const crowdedMargin = 1.1

// fastest is collective: it times the plans and the native broadcast on buf,
// then, if that takes no time to speak of, the best plan with shorter and longer
// segments, and returns the fastest.
func (b *Broadcaster) fastest(crew *crew, plans []candidate, buf []byte) (candidate, error) {
	watch, err := newStopwatch(b.exec, crew.root, b.crowded)
	if err != nil {
		return candidate{}, err
	}
	best, library, err := b.trial(watch, plans, buf)
	if err != nil {
		return candidate{}, err
	}
	if s := best.Segment; s > 0 && best.Measured < b.budget/nearTrials {
		var near []candidate
		for _, segment := range []int{s, s / nearFactor, nearFactor * s} {
			if segment >= minSegment && segment < len(buf) {
				c := best
				c.Segment = segment
				if segment != s {
					c.Predicted = math.NaN()
				}
				near = append(near, c)
			}
		}
		if best, library, err = b.trial(watch, near, buf); err != nil {
			return candidate{}, err
		}
	}
	best.MeasuredNative = library.Measured
	library.MeasuredNative = library.Measured
	told, err := b.tellPlans(crew, []candidate{b.fastestOf([]candidate{best, library})})
	if err != nil {
		return candidate{}, err
	}
	return told[0], nil
}

// fastestOf returns the plan of the least measured time. With more ranks than
// cores, times are noisy: a plan then has to be a tenth faster to go before
// one that stands before it.
func (b *Broadcaster) fastestOf(plans []candidate) candidate {
	margin := 1.0
	if b.crowded {
		margin = crowdedMargin
	}
	best := plans[0]
	for _, p := range plans[1:] {
		if p.Measured*margin < best.Measured {
			best = p
		}
	}
	return best
}

const (
	maxTrials = 15       // rounds after the first of a trial that is through in no time
	hopeless  = 4        // times slower than the best in the first round: not run again
	head      = 64 << 10 // bytes
)

// trial is collective: it times the plans and the native broadcast, turn by
// turn, and returns the fastest plan and the native one with their medians,
// the same on all ranks. A round with the head of the message warms up (the
// libraries connect ranks at their first message), and the first one with all
// of it sorts out what is hopeless.
func (b *Broadcaster) trial(watch *stopwatch, plans []candidate, buf []byte) (best, library candidate, err error) {
	all := append(slices.Clone(plans), newNative())
	times := make([][]float64, len(all))
	routes := make([]*route, len(all))
	for i, c := range all {
		routes[i] = b.newRoute(c, watch.root)
	}
	round := func(running int, buf []byte) error {
		if err := watch.round(); err != nil {
			return err
		}
		for i, r := range routes {
			if running&(1<<i) == 0 {
				continue
			}
			t, err := watch.time(func() error { return b.follow(r, buf, watch.root) })
			if err != nil {
				return err
			}
			times[i] = append(times[i], t)
		}
		return nil
	}
	everybody := 1<<len(all) - 1
	if err := round(everybody, buf[:min(len(buf), head)]); err != nil {
		return best, library, err
	}
	for i := range times {
		times[i] = times[i][:0]
	}
	begin := watch.now()
	if err := round(everybody, buf); err != nil {
		return best, library, err
	}
	running, rounds := b.hopeful(times, watch.now()-begin)
	if running, err = watch.tellInt(running); err != nil {
		return best, library, err
	}
	if rounds, err = watch.tellInt(rounds); err != nil {
		return best, library, err
	}
	for range rounds {
		if err := round(running, buf); err != nil {
			return best, library, err
		}
	}
	for i := range all {
		all[i].Measured = stats.MiddleMedian(times[i])
	}
	told, err := b.tellPlans(watch.crew, []candidate{b.fastestOf(all[:len(plans)]), all[len(plans)]})
	if err != nil {
		return best, library, err
	}
	return told[0], told[1], nil
}

// hopeful tells, of a first round and its time in s, which variants are worth
// running again, as bits, and how often there is time for them.
func (b *Broadcaster) hopeful(times [][]float64, elapsed float64) (running, rounds int) {
	least := math.Inf(1)
	for _, t := range times {
		least = min(least, t[0])
	}
	for i, t := range times {
		if t[0] > hopeless*least {
			elapsed -= t[0]
			continue
		}
		running |= 1 << i
	}
	return running, int(max(0, min(maxTrials, b.budget/2/elapsed)))
}

// tellPlans is collective: all ranks get the root's candidates.
func (b *Broadcaster) tellPlans(c *crew, plans []candidate) ([]candidate, error) {
	const record = 40 // bytes
	var out []byte
	for _, p := range plans {
		out = binary.LittleEndian.AppendUint64(out, uint64(p.index))
		out = binary.LittleEndian.AppendUint64(out, uint64(p.Segment))
		for _, v := range []float64{p.Predicted, p.Measured, p.MeasuredNative} {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	in, err := c.tellAny(out)
	if err != nil {
		return nil, err
	}
	plans = nil
	for ; len(in) >= record; in = in[record:] {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(in[8*i:]) }
		p := candidate{index: int(word(0))}
		p.Segment = int(word(1))
		p.Predicted, p.Measured, p.MeasuredNative = math.Float64frombits(word(2)), math.Float64frombits(word(3)), math.Float64frombits(word(4))
		if p.index != native {
			p.Algorithm = b.catalogue[p.index]
		}
		plans = append(plans, p)
	}
	return plans, nil
}
