package tuner

import (
	"math"
	"slices"
)

// A Duel is the session that decides: a challenger against the incumbent, pair by pair, by a sign test.
type Duel struct {
	*Contest
	challenger, incumbent int
	most                  int // pairs
	test                  signTest
	since                 float64 // s, the start of the first pair; NaN: not begun
	order                 []int
}

const (
	usualTime  = 1  // s after which a duel without a limit takes no further look
	surePairs  = 11 // that it has in any case: the second look forgives one bad pair of seven
	shortPairs = 11 // of a confirmation
)

// Duel returns a session that tells whether the challenger is to replace the incumbent.
func (c *Contest) Duel(challenger, incumbent int) *Duel {
	return &Duel{Contest: c, challenger: challenger, incumbent: incumbent, most: looks[len(looks)-1], test: signTest{margin: c.margin}, since: math.NaN()}
}

// Confirm is a Duel of seven pairs, or eleven if one of the seven was lost. A challenger that has won before needs no
// more.
func (c *Contest) Confirm(challenger, incumbent int) *Duel {
	d := c.Duel(challenger, incumbent)
	d.most = shortPairs
	return d
}

// Next implements Session.
func (d *Duel) Next(now float64) (Round, bool) {
	if math.IsNaN(d.since) {
		d.since = now
	}
	if !d.isOpen(now) || !d.hasTime(now) {
		return Round{}, false
	}
	next := d.round([]int{d.challenger, d.incumbent}, d.batch)
	d.order = next.Variants
	return next, true
}

// Add implements Session.
func (d *Duel) Add(samples []Sample) {
	first := slices.Index(d.order, d.challenger)
	d.test.add(samples[first], samples[1-first])
}

// isOpen tells whether the test needs another pair, and is worth it.
func (d *Duel) isOpen(now float64) bool {
	if d.test.over() || d.test.rounds >= d.most {
		return false
	}
	if d.test.rounds < surePairs {
		return true
	}
	look := slices.IndexFunc(looks[:], func(n int) bool { return n > d.test.rounds })
	each := (now - d.since) / float64(d.test.rounds)
	end := d.s.Limit
	if math.IsInf(end, 1) {
		end = d.since + usualTime
	}
	return now+float64(looks[look]-d.test.rounds)*each <= end
}

// A Verdict is the outcome of a duel.
//
// A challenger that is slower by the margin of 3 % or more (10 % where ranks share cores), cold or hot, wins with a
// probability of at most 2.1 %. One that is no faster by the margin in either wins with at most 4.2 %. Slower means
// here: in half of the pairs or more, whatever the distribution of the times, as long as pairs are independent of each
// other. 2.1 % holds for just half of the pairs; for 60 % it is 0.24 %. A Confirm has two looks: 1.2 %.
type Verdict struct {
	Wins       bool
	Decided    bool   // false: the time has run out before
	Pairs      int    // that were timed
	Challenger Sample // medians
	Incumbent  Sample
}

// Verdict is the outcome.
func (d *Duel) Verdict() Verdict {
	over := d.test.over() || d.test.rounds >= d.most
	return Verdict{
		Wins: over && d.test.won(), Decided: over, Pairs: d.test.rounds,
		Challenger: medians(d.test.challenger), Incumbent: medians(d.test.opponent),
	}
}
