package harness

import (
	"fmt"
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

// overBudget is how many times the budget a plan may need before it is said to: the need is
// estimated, and is the budget itself where the plan was cut to it.
const overBudget = 1.01

// check holds the plan against the budget, and makes it cheaper as far as it can be. The note of a new plan takes the place
// of that of the plan before, which was too bold.
func (l *leader) check() {
	if l.far.Done < l.nextCheck {
		return
	}
	l.nextCheck = l.settings.Done + checkAgain*(l.far.Done-l.settings.Done)
	spent, left := l.Elapsed(), l.End()-l.Now()
	if l.extra || l.timed == 0 || l.need(l.planned) <= left {
		return
	}
	next := l.cheaper(left)
	missing := fmt.Sprintf("about %v: pairs will be missing", about(spent+l.need(next)))
	if next == l.planned {
		if len(l.notes) == 0 { // nothing can be spared: at least it is known from the start
			l.note(fmt.Sprintf("the budget is too small for %s, which need %s", next, missing))
		}
		return
	}
	text := fmt.Sprintf("the budget is too small for %s, which need about %v: taking %s", l.asked, about(spent+l.need(l.asked)), next)
	if spent+l.need(next) > overBudget*l.settings.Budget.Seconds() {
		text += "; even that needs " + missing
	}
	l.notes = nil
	l.note(text)
	l.adopt(next)
}

// need is the time in s that an effort will still take, with its samples from now on.
func (l *leader) need(e effort) float64 {
	done, rounds := l.far.Done, l.usualRounds
	perRound := l.inRounds / float64(l.timed) * float64(e.samples+fixedSamples) / float64(l.planned.samples+fixedSamples)
	return perRound*float64(e.repetitions*rounds-done) + l.warmed*float64(e.repetitions-l.begun())
}

// begun is the number of repetitions that have begun.
func (l *leader) begun() int { return (l.far.Done + l.usualRounds - 1) / l.usualRounds }

// cheaper is the largest effort for which the time left in s is enough: as many repetitions as leave enough samples, and
// then as many samples. A single repetition may have fewer. Pairs that are measured at other times tell more than samples
// taken in a row do.
func (l *leader) cheaper(left float64) effort {
	least := max(1, l.begun())
	for repetitions := l.planned.repetitions; repetitions > least; repetitions-- {
		for samples := l.planned.samples; samples >= min(enough, l.planned.samples); samples-- {
			if next := (effort{repetitions, samples}); l.need(next) <= left {
				return next
			}
		}
	}
	next := effort{least, l.planned.samples}
	for next.samples > fewest && l.need(next) > max(0, left) {
		next.samples--
	}
	return next
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
