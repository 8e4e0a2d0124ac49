package harness

import (
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

// check holds the plan against the budget, and makes it cheaper as far as it can be.
func (l *leader) check() {
	if l.done < l.nextCheck {
		return
	}
	now := l.done - l.settings.Done
	l.nextCheck = l.settings.Done + checkAgain*now
	left := l.End() - l.Now()
	if l.extra || l.timed == 0 || l.need(l.planned) <= left {
		return
	}
	next := l.cheaper(left)
	if next != l.planned {
		l.announce(next)
		l.adopt(next)
	} else if l.announced == 0 { // nothing can be spared: at least it is known from the start
		l.note(fmt.Sprintf("the budget is too small for %s, which need about %v: pairs will be missing",
			next, about(l.Elapsed()+l.need(next))))
		l.announced = len(l.notes)
	}
}

// need is the time in s that an effort will still take, with its samples from now on.
func (l *leader) need(e effort) float64 {
	rounds := l.usualRounds
	perRound := l.inRounds / float64(l.timed) * float64(e.samples+fixedSamples) / float64(l.planned.samples+fixedSamples)
	begun := (l.done + rounds - 1) / rounds
	return perRound*float64(e.repetitions*rounds-l.done) + l.warmed*float64(e.repetitions-begun)
}

// cheaper is the effort for which the time left in s is enough: as many
// repetitions as leave enough samples; then as many samples as one repetition
// allows. Pairs that are measured at other times tell more than samples taken
// in a row do.
func (l *leader) cheaper(left float64) effort {
	next := l.planned
	// Need grows in proportion to samples+fixedSamples, but for the warm-ups.
	most := func(repetitions, least int) int {
		for samples := l.planned.samples; samples > least; samples-- {
			if l.need(effort{repetitions, samples}) <= left {
				return samples
			}
		}
		return least
	}
	rounds := l.usualRounds
	begun := max(1, (l.done+rounds-1)/rounds)
	keep := min(enough, l.planned.samples)
	for ; next.repetitions > begun; next.repetitions-- {
		if l.need(effort{next.repetitions, keep}) <= left {
			next.samples = most(next.repetitions, keep)
			return next
		}
	}
	if begun*rounds > l.done {
		next.samples = most(begun, min(fewest, l.planned.samples))
	}
	return next
}

// overBudget is how many times the budget a plan may need before it is said to: the need is
// estimated, and is the budget itself where the plan was cut to it.
const overBudget = 1.01

// announce says which plan takes the place of the one that was asked for.
func (l *leader) announce(next effort) {
	spent := l.Elapsed()
	text := fmt.Sprintf("the budget is too small for %s, which need about %v: taking %s", l.asked, about(spent+l.need(l.asked)), next)
	if need := spent + l.need(next); need > overBudget*l.settings.Budget.Seconds() {
		text += fmt.Sprintf("; even that needs about %v: pairs will be missing", about(need))
	}
	if l.announced > 0 { // the plan before was too bold
		l.notes = slices.Delete(l.notes, l.announced-1, l.announced)
	}
	l.note(text)
	l.announced = len(l.notes)
}

// String says what an effort takes; samples are 0 where the test has none.
func (e effort) String() string {
	if e.samples == 0 {
		return words.Count(e.repetitions, "repetition")
	}
	return fmt.Sprintf("%s of %d samples", words.Count(e.repetitions, "repetition"), e.samples)
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
