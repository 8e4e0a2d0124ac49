package bcast

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
)

// watched is the choice of a cell that may change while the job runs (Settings.Adapt).
type watched struct {
	keeper *tuner.Keeper       // made when first needed; nil also where there is but one way
	plans  []predict.Candidate // its ways; the library's own, if it is one of them, is the first
	since  int                 // broadcasts since it was asked
	due    int                 // broadcasts from then on until it is asked again
}

// firstTry is how many broadcasts there are before ways are compared again for the first time.
const firstTry = 64

// kept is how many ways are compared while the job runs: the library's own, the plan in use or the best of ours, and
// the one that came next to it. More would have to be paid from the same share of the time. Where all of them send the whole
// message over the one link that has become slow they tie, and nothing changes: in a star of five ranks a chain
// and a split binary tree both do so behind ranks 0, 1 and 3.
const kept = 3

// hotBatch is how many broadcasts back to back are one sample of Adapt, for messages that are short, and
// for those that are not.
const (
	hotBatch   = 32
	longBatch  = 2
	shortBytes = 4 << 10
)

// adapted is collective: it is called after each broadcast, and now and then, at the same one on
// all ranks, compares the way in use with another.
func (b *Broadcaster) adapted(c *cell, buf []byte, root int) error {
	if c.due == 0 {
		c.due = firstTry
	}
	if c.since++; c.since < c.due {
		return nil
	}
	if c.plans == nil {
		if err := b.keep(c, len(buf), root); err != nil {
			return err
		}
	}
	if c.keeper == nil {
		c.due = math.MaxInt
		return nil
	}
	choice, err := c.keeper.Try(buf, c.since)
	if err != nil {
		return fmt.Errorf("bcast: adapt: %w", err)
	}
	c.since, c.due = 0, choice.After
	if p := c.plans[choice.Way]; !sameWay(p, c.Candidate) {
		b.leave(b.key(len(buf), root), c)
		c.Candidate = p
	}
	c.Measured, c.MeasuredNative = choice.Current.Cold, choice.Incumbent.Cold
	return nil
}

// keep is collective: it makes the keeper of a cell, if there are two ways to compare.
func (b *Broadcaster) keep(c *cell, bytes, root int) error {
	watch, err := b.stopwatch()
	if err != nil {
		return err
	}
	best, err := b.predicted(bytes, root, tried)
	if err != nil {
		return err
	}
	most, incumbent := kept, 0
	if b.timed() {
		c.plans = []predict.Candidate{newNative()}
	} else {
		most, incumbent = kept-1, tuner.None
	}
	add := func(p predict.Candidate) {
		if len(c.plans) < most && !slices.ContainsFunc(c.plans, func(o predict.Candidate) bool { return sameWay(o, p) }) {
			c.plans = append(c.plans, p)
		}
	}
	add(c.Candidate)
	for _, p := range c.rivals {
		add(p)
	}
	// What slows a schedule down does so in any segments: another schedule goes before.
	for _, p := range best {
		if p.Index != c.Index {
			add(p)
		}
	}
	if len(c.plans) < 2 {
		return nil
	}
	roots := b.sampled(root)
	batch := longBatch
	if bytes <= shortBytes {
		batch = hotBatch
	}
	current := slices.IndexFunc(c.plans, func(p predict.Candidate) bool { return sameWay(p, c.Candidate) })
	c.keeper = watch.Keep(b.ways(c.plans, bytes, roots), incumbent, current, roots, batch, b.crowded, b.adapt)
	return nil
}

// sameWay tells whether two candidates do a broadcast alike.
func sameWay(p, q predict.Candidate) bool {
	return p.Index == q.Index && p.Segment == q.Segment && p.Blocking == q.Blocking
}
