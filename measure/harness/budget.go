package harness

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/words"
)

const (
	firstCheck   = 3  // rounds after which the plan is first held against the budget; then after checkAgain times as many, and so on
	checkAgain   = 4  // rounds tell their own time better than a plan by a factor of two, at the price of one more check in four times the rounds
	fixedSamples = 10 // a round costs as much again as this many samples: pilots, barrier, the other messages
	fewest       = 5  // samples of which quartiles can be told
	enough       = 10 // samples to keep as long as repetitions can be spared
)

// tooSlow tells whether the rounds so far show that the budget is too small
// for the plan, and then prepares one for which it is enough, as far as there
// is any.
func (c *campaign) tooSlow(t float64) bool {
	if c.settings.Budget == 0 || c.done < c.nextCheck || c.laps == 0 || c.extra {
		return false
	}
	c.nextCheck = c.plan.Done + checkAgain*(c.done-c.plan.Done)
	left := c.start + c.settings.Budget.Seconds() - t
	p := c.plan
	if c.need(p.Repetitions, p.Samples) <= left {
		return false
	}
	next := c.cheaper(left)
	if next.Repetitions == p.Repetitions && next.Samples == p.Samples {
		if c.announced == 0 { // nothing can be spared: at least it is known from the start
			c.note(fmt.Sprintf("the budget is too small for %s, which need about %v: pairs will be missing",
				effort(p.Repetitions, p.Samples), about(t-c.start+c.need(p.Repetitions, p.Samples))))
			c.announced = len(c.outcome.Notes)
		}
		return false
	}
	c.planned = &next
	return true
}

// need is the time in s that so many repetitions in all will still take, with
// so many samples from now on.
func (c *campaign) need(repetitions, samples int) float64 {
	rounds := c.order.rounds()
	perRound := c.inRounds / float64(c.laps) * float64(samples+fixedSamples) / float64(c.plan.Samples+fixedSamples)
	begun := (c.done + rounds - 1) / rounds
	return perRound*float64(repetitions*rounds-c.done) + c.warmUp*float64(repetitions-begun)
}

// cheaper is the plan for which the time left in s is enough: as many
// repetitions as leave enough samples; then as many samples as one repetition
// allows. Pairs that are measured at other times tell more than samples taken
// in a row do.
func (c *campaign) cheaper(left float64) plan {
	next := *c.plan
	// Need grows in proportion to samples+fixedSamples, but for the warm-ups.
	most := func(repetitions, least int) int {
		for samples := c.plan.Samples; samples > least; samples-- {
			if c.need(repetitions, samples) <= left {
				return samples
			}
		}
		return least
	}
	rounds := c.order.rounds()
	begun := max(1, (c.done+rounds-1)/rounds)
	keep := min(enough, c.plan.Samples)
	for next.Repetitions = c.plan.Repetitions; next.Repetitions > begun; next.Repetitions-- {
		if c.need(next.Repetitions, keep) <= left {
			next.Samples = most(next.Repetitions, keep)
			return next
		}
	}
	if begun*rounds > c.done {
		next.Samples = most(begun, min(fewest, c.plan.Samples))
	}
	return next
}

// replan gives the new plan of rank 0 to all ranks. It is collective.
func (c *campaign) replan() error {
	var data []byte
	if c.outcome != nil {
		c.announce()
		data = binary.LittleEndian.AppendUint32(data, uint32(c.planned.Repetitions))
		data = binary.LittleEndian.AppendUint32(data, uint32(c.planned.Samples))
	}
	data, err := Tell(c.comm, data)
	if err != nil {
		return err
	}
	c.plan.Repetitions = int(binary.LittleEndian.Uint32(data))
	c.plan.Samples = int(binary.LittleEndian.Uint32(data[4:]))
	if c.sampler != nil {
		c.sampler.SetSamples(c.plan.Samples)
	}
	if c.outcome != nil {
		c.outcome.TotalRounds = c.plan.Repetitions * c.order.rounds()
		c.totalPairs = c.plan.Repetitions * c.order.pairs()
	}
	return nil
}

// overBudget is how many times the budget a plan may need before it is said to: the need is
// estimated, and is the budget itself where the plan was cut to it.
const overBudget = 1.01

// announce says which plan takes the place of the one that was asked for.
func (c *campaign) announce() {
	spent := c.now() - c.start
	next := c.planned
	text := fmt.Sprintf("the budget is too small for %s, which need about %v: taking %s",
		effort(c.asked, c.samplesAsked), about(spent+c.need(c.asked, c.samplesAsked)), effort(next.Repetitions, next.Samples))
	if need := spent + c.need(next.Repetitions, next.Samples); need > overBudget*c.settings.Budget.Seconds() {
		text += fmt.Sprintf("; even that needs about %v: pairs will be missing", about(need))
	}
	if c.announced > 0 { // the plan before was too bold
		c.outcome.Notes = slices.Delete(c.outcome.Notes, c.announced-1, c.announced)
	}
	c.note(text)
	c.announced = len(c.outcome.Notes)
}

// effort says what a plan takes; samples are 0 where the test has none.
func effort(repetitions, samples int) string {
	if samples == 0 {
		return words.Count(repetitions, "repetition")
	}
	return fmt.Sprintf("%s of %d samples", words.Count(repetitions, "repetition"), samples)
}

// about is a time in s to two or three figures.
func about(s float64) time.Duration {
	d := time.Duration(s * float64(time.Second))
	for unit := time.Minute; unit > time.Nanosecond; unit /= 10 {
		if d >= 10*unit {
			return d.Round(unit)
		}
	}
	return d
}
