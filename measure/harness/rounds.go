package harness

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// run measures all rounds. Rank 0 then has delivered all rows, and knows how it ended.
func (c *campaign) run() error {
	defer PauseCollector()()
	if c.outcome != nil {
		c.delivered = c.now()
	}
	first, skip := 0, 0
	if rounds := c.order.rounds(); rounds > 0 {
		first, skip = c.plan.Done/rounds, c.plan.Done%rounds
	}
	c.pairs = first * c.order.pairs()
	c.earlierPairs = c.pairs
	ending := goOn
	for repetition := first; ending == goOn; repetition++ {
		rounds := c.order.repetition
		if c.ended = repetition >= c.plan.Repetitions; c.ended {
			if err := c.deliver(); err != nil {
				return err
			}
			var err error
			if ending, err = c.meet(); err != nil {
				return err
			}
			if ending != goOn {
				break
			}
			chosen, err := c.another(repetition)
			if err != nil {
				return err
			}
			if c.behind = 0; len(chosen) > 0 {
				c.behind = c.order.rounds()
				rounds = func(int) iter.Seq[step] { return c.order.chosen(chosen) }
			}
		}
		var err error
		if ending, err = c.repetition(repetition, rounds(repetition), skip); err != nil {
			return err
		}
		skip = 0
	}
	c.report()
	if ending != finish { // else rank 0 has all
		if err := c.deliver(); err != nil {
			return err
		}
	}
	if o := c.outcome; o != nil {
		o.Stopped, o.Rounds, o.Pairs = ending.reason(), c.done, c.pairs+c.pairsUnderWay()
	}
	// The collector stays off until the last rank has measured.
	_, err := c.all.Wait(goOn.word(0))
	return err
}

// another begins a repetition that rank 0 wants beyond the planned ones, and returns
// its rounds on all ranks; none: all. It is collective.
func (c *campaign) another(repetition int) ([][][2]int, error) {
	c.ended, c.extra = false, true
	c.plan.Repetitions = repetition + 1
	var data []byte
	if o := c.outcome; o != nil {
		var err error
		if data, err = json.Marshal(c.next); err != nil {
			return nil, err
		}
		o.Repetitions = max(o.Repetitions, c.plan.Repetitions)
		if o.TotalRounds = c.done + len(c.next); len(c.next) == 0 {
			o.TotalRounds = c.done + c.order.rounds()
		}
		if c.totalPairs = c.pairs + countPairs(c.next); len(c.next) == 0 {
			c.totalPairs = c.pairs + c.order.pairs()
		}
	}
	data, err := Tell(c.comm, data)
	if err != nil {
		return nil, err
	}
	var rounds [][][2]int
	return rounds, json.Unmarshal(data, &rounds)
}

// repetition measures the rounds of one repetition behind the first ones, which an
// earlier run has measured. It returns why all ranks leave, or goOn for another repetition.
func (c *campaign) repetition(number int, rounds iter.Seq[step], skip int) (wish, error) {
	c.watch.At(number, c.behind)
	if c.outcome != nil {
		c.levelDone, c.chosenDone = make([]int, len(c.order.phases)), 0
	}
	i := 0
	for s := range rounds {
		if i < skip {
			c.count(s)
			i++
			continue
		}
		if i == skip { // the first round is also the warm-up
			if skip > 0 {
				c.earlierPairs += c.pairsUnderWay()
			}
			if w, err := c.meet(); err != nil || w != goOn {
				return w, err
			}
			c.lap(-1)
			if s.peer >= 0 {
				c.watch.Wait(s.peer, Measuring, 1)
				err := c.test.WarmUp(s.peer)
				if c.watch.Done(); err != nil {
					return goOn, c.blame(err, s.peer, number, c.behind+i)
				}
			}
		}
		c.report()
		c.watch.At(number, c.behind+i)
		if w, err := c.begin(s, i-skip); err != nil || w != goOn {
			return w, err
		}
		if s.peer >= 0 {
			if err := c.exchange(s.peer, number, c.behind+i); err != nil {
				return goOn, c.blame(err, s.peer, number, c.behind+i)
			}
		}
		c.done++
		c.count(s)
		i++
	}
	if c.outcome != nil {
		c.pairs += c.pairsUnderWay()
		c.levelDone, c.chosenDone = nil, 0
	}
	return goOn, nil
}

// count counts a round on rank 0.
func (c *campaign) count(s step) {
	if c.outcome == nil {
		return
	}
	if c.chosenDone += s.pairs; s.pairs == 0 {
		c.levelDone[s.level]++
	}
}

// begin brings those together that have to wait for each other before a round: the
// ranks of the groups that are at work, each group by itself. Every now and then all
// ranks meet, to agree on whether to go on; in any case before the first round, whose i is 0.
func (c *campaign) begin(s step, i int) (wish, error) {
	isAll := s.level == len(c.groups)-1
	if isAll || i == 0 || c.sinceAll >= c.untilNext {
		w, err := c.meet()
		if err == nil && w == goOn {
			c.lap(i)
		}
		c.sinceAll = 1
		return w, err
	}
	c.sinceAll++
	if s.meets {
		_, err := c.groups[s.level].Wait(0)
		return goOn, err
	}
	return goOn, nil
}

// exchange is the test of one pair.
func (c *campaign) exchange(peer, repetition, round int) error {
	c.watch.Wait(peer, Measuring, 1)
	defer c.watch.Done()
	if err := c.watch.Introduce(peer); err != nil {
		return err
	}
	var err error
	if c.found, err = c.test.Exchange(c.found[:0], peer); err != nil {
		return err
	}
	if c.columns == 0 || len(c.found)%c.columns != 0 {
		return fmt.Errorf("the test appends %d values: want a multiple of its %d columns", len(c.found), c.columns)
	}
	for row := range slices.Chunk(c.found, c.columns) {
		c.rows = append(append(c.rows, float64(peer), float64(repetition), float64(round)), row...)
	}
	return nil
}

// lap takes on rank 0, when the barrier of round i is passed, the time since the
// one before: until then all ranks were done.
func (c *campaign) lap(i int) {
	if c.outcome == nil {
		return
	}
	t := c.now()
	rounds := c.done - c.lastDone
	switch {
	case i == 0:
		c.warmUp = t - c.lastLap
	case rounds > 0: // of the repetition before, if i < 0
		c.inRounds += t - c.lastLap
		c.laps += rounds
		c.setPace((t - c.lastLap) / float64(rounds))
	}
	c.lastLap, c.lastDone = t, c.done
}

// Groups run by themselves between two barriers of all ranks: so short that one who wants to
// stop hardly waits, and so long that the barriers cost little.
const (
	paceTime = 0.02 // s
	maxPace  = 1<<paceBits - 1
)

// setPace goes from what the last rounds took in s.
func (c *campaign) setPace(round float64) {
	switch together := round * float64(int(1)<<c.pace); {
	case together > paceTime && c.pace > 0:
		c.pace--
	case 2*together < paceTime && c.pace < maxPace:
		c.pace++
	}
}

// meet is the barrier of all ranks: it tells them whether to go on, and
// starts them together. Whatever else they agree on is done in between.
func (c *campaign) meet() (wish, error) {
	for {
		word, err := c.all.Wait(c.wish().word(c.pace))
		if err != nil {
			return goOn, err
		}
		w, pace := wishOf(word)
		switch w {
		case deliver:
			err = c.deliver()
		case replan:
			err = c.replan()
		default:
			c.untilNext = 1 << pace
			return w, nil
		}
		if err != nil {
			return w, err
		}
	}
}

// Deliveries that come more seldom than every half a second, or take less than a
// twentieth of the time, cost the measurement at most 5 %.
const (
	deliverEvery = 0.5 // s, at least
	deliverShare = 20  // times what the last delivery took, at least
)

// wish is what the calling rank wants next.
func (c *campaign) wish() wish {
	if c.ctx.Err() != nil {
		return stopCancelled
	}
	if c.outcome == nil {
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
	case !c.ended && c.settings.Deliver != nil && t-c.delivered > max(deliverEvery, deliverShare*c.delivering):
		return deliver
	}
	return goOn
}

// wantsMore asks whether another repetition is worth its time, and finds out
// whether it is within the budget.
func (c *campaign) wantsMore(t float64) bool {
	if c.settings.Again == nil || c.plan.Repetitions >= MaxRepetitions {
		return false
	}
	rounds, more := c.settings.Again(c.plan.Repetitions)
	if !more || len(rounds) == 0 && c.order.rounds() == 0 {
		return false
	}
	if err := checkRounds("what Again returns", rounds, c.comm.Size()); err != nil {
		c.note(err.Error())
		return false
	}
	c.next = rounds
	if budget := c.settings.Budget.Seconds(); budget > 0 && c.laps > 0 {
		count := len(rounds)
		if count == 0 {
			count = c.order.rounds()
		}
		return c.inRounds/float64(c.laps)*float64(count)+c.warmUp <= c.start+budget-t
	}
	return true
}
