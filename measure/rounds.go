package measure

import "runtime/debug"

// run measures all rounds. On rank 0 the result then holds all readings, in no
// order, and how it ended.
func (c *campaign) run() error {
	// Ranks may share a process: the collector is switched off by all before
	// the first barrier, and on again, after the last one, by the one that
	// found it on.
	percent := debug.SetGCPercent(-1)
	defer func() {
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}()
	if c.result != nil {
		c.delivered = c.now()
		c.journal = newJournal(c.settings, c.result)
	}
	ending := goOn
	for repetition := 0; ; repetition++ {
		if c.ended = repetition >= c.plan.Repetitions; c.ended {
			if err := c.deliver(); err != nil {
				return err
			}
		}
		var err error
		if ending, err = c.repetition(repetition); err != nil {
			return err
		}
		if ending != goOn {
			break
		}
	}
	c.report()
	if ending != finish { // else rank 0 has all
		if err := c.deliver(); err != nil {
			return err
		}
	}
	if r := c.result; r != nil {
		r.Stopped, r.Rounds = ending.reason(), c.done
	}
	// The collector stays off until the last rank has measured.
	_, err := c.all.Wait(byte(goOn))
	return err
}

// repetition measures the rounds of one repetition. It returns why all ranks
// leave, or goOn for another repetition.
func (c *campaign) repetition(number int) (wish, error) {
	partners := c.turns.repetition(number)
	for i := -1; i < len(partners); i++ { // the first round is also the warm-up
		if i >= 0 {
			c.report()
		}
		if w, err := c.meet(); err != nil || w != goOn {
			return w, err
		}
		c.lap(i)
		if c.ended = false; number >= c.plan.Repetitions { // rank 0 wants another one
			c.plan.Repetitions = number + 1
			if r := c.result; r != nil {
				r.Repetitions = max(r.Repetitions, c.plan.Repetitions)
				r.TotalRounds = c.plan.Repetitions * c.turns.rounds()
			}
		}
		if i < 0 {
			if len(partners) > 0 && partners[0] >= 0 {
				if err := c.probe.WarmUp(partners[0], c.plan.Sizes); err != nil {
					return goOn, err
				}
			}
			continue
		}
		if peer := partners[i]; peer >= 0 {
			for k, size := range c.plan.Sizes {
				s, err := c.probe.Pair(peer, size)
				if err != nil {
					return goOn, err
				}
				c.readings = append(c.readings, Reading{From: c.comm.Rank(), To: peer, Repetition: number, Size: k, Round: i, Summary: s})
			}
		}
		c.done++
	}
	return goOn, nil
}

// lap takes on rank 0, when the barrier of round i is passed, the time since the
// one before: until then all ranks were done.
func (c *campaign) lap(i int) {
	if c.result == nil || c.settings.Budget == 0 {
		return
	}
	t := c.now()
	switch {
	case i == 0:
		c.warmUp = t - c.lastLap
	case i > 0 || c.done > 0: // or the last one of the repetition before
		c.inRounds += t - c.lastLap
		c.laps++
	}
	c.lastLap = t
}

// meet is the barrier before a round: it tells all ranks whether to go on, and
// starts them together. Whatever else they agree on is done in between.
func (c *campaign) meet() (wish, error) {
	for {
		word, err := c.all.Wait(byte(c.wish()))
		if err != nil {
			return goOn, err
		}
		w := wish(word)
		switch w {
		case deliver:
			err = c.deliver()
		case replan:
			err = c.replan()
		default:
			return w, nil
		}
		if err != nil {
			return w, err
		}
	}
}

// A journal that is delivered more seldom than every half a second, or whose delivery takes less than a
// twentieth of the time, costs the measurement at most 5 %.
const (
	deliverEvery = 0.5 // s, at least
	deliverShare = 20  // times what the last delivery took, at least
)

// wish is what the calling rank wants next.
func (c *campaign) wish() wish {
	if c.ctx.Err() != nil {
		return stopCancelled
	}
	if c.result == nil {
		return goOn
	}
	t := c.now()
	budget := c.settings.Budget.Seconds()
	switch {
	case budget > 0 && t-c.start > budget && !c.ended:
		return stopBudget
	case c.ended && !c.wantsMore(t):
		return finish
	case c.tooSlow(t):
		return replan
	case c.journal != nil && t-c.delivered > max(deliverEvery, deliverShare*c.delivering):
		return deliver
	}
	return goOn
}

// wantsMore tells whether another repetition is worth its time and within the
// budget.
func (c *campaign) wantsMore(t float64) bool {
	rounds := c.turns.rounds()
	if c.plan.Repetitions >= c.asked+c.plan.Extra || rounds == 0 {
		return false
	}
	if budget := c.settings.Budget.Seconds(); budget > 0 && c.laps > 0 {
		if c.need(c.plan.Repetitions+1, c.plan.Samples) > c.start+budget-t {
			return false
		}
	}
	return c.result.disturbed()
}
