package bcast

import (
	"fmt"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
)

// watched is the choice of a cell that may change while the job runs (Settings.Adapt).
type watched struct {
	keeper *tuner.Keeper       // made when first needed
	plans  []predict.Candidate // its ways; the first is the library's own
	since  int                 // broadcasts since it was asked
	due    int                 // broadcasts from then on until it is asked again
}

// firstTry is how many broadcasts there are before ways are compared again for the first time.
const firstTry = 64

// kept is how many ways are compared while the job runs: the library's own and the best of ours. More would
// have to be paid from the same share of the time.
const kept = 2

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
	if !b.timed() {
		return nil
	}
	if c.due == 0 {
		c.due = firstTry
	}
	if c.since++; c.since < c.due {
		return nil
	}
	if c.keeper == nil {
		if err := b.keep(c, len(buf), root); err != nil {
			return err
		}
	}
	choice, err := c.keeper.Try(buf, c.since)
	if err != nil {
		return fmt.Errorf("bcast: adapt: %w", err)
	}
	c.since, c.due = 0, choice.After
	c.plans[0].Measured = choice.Incumbent.Cold
	key := b.key(len(buf), root)
	if p := c.plans[choice.Way]; p.Index != c.Index || p.Segment != c.Segment || p.Blocking != c.Blocking {
		b.leave(key, c)
		c.Candidate = p
	}
	c.Measured, c.MeasuredNative = choice.Current.Cold, choice.Incumbent.Cold
	return nil
}

// keep is collective: it makes the keeper of a cell.
func (b *Broadcaster) keep(c *cell, bytes, root int) error {
	watch, err := b.stopwatch()
	if err != nil {
		return err
	}
	best, err := b.predicted(bytes, root)
	if err != nil {
		return err
	}
	c.plans = []predict.Candidate{newNative()}
	add := func(p predict.Candidate) {
		for _, other := range c.plans {
			if p.Index == other.Index && (p.Segment == other.Segment && p.Blocking == other.Blocking) {
				return
			}
		}
		c.plans = append(c.plans, p)
	}
	add(c.Candidate)
	current := len(c.plans) - 1 // 0 if it is the library's own
	if c.runnerUp != nil {
		add(*c.runnerUp)
	}
	for _, p := range best {
		if len(c.plans) < kept {
			add(p)
		}
	}
	roots := b.sampled(root)
	batch := longBatch
	if bytes <= shortBytes {
		batch = hotBatch
	}
	c.keeper = watch.Keep(b.ways(c.plans, bytes, roots), current, roots, batch, b.crowded, b.adapt)
	return nil
}
