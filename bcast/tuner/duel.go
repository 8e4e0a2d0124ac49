package tuner

import (
	"math"
	"slices"
)

// A duel is the session that decides: a challenger against the incumbent, pair by pair, by a sign test.
type duel struct {
	*contest
	challenger, incumbent Variant
	most                  int // pairs
	test                  signTest
	since                 float64 // s, the start of the first pair
}

const (
	usualTime = 1 // s after which a duel without a limit takes no further look
	mostPairs = 51

	// surePairs are those that a duel has in any case: the second look forgives one bad pair of seven. A challenger that has
	// won before is confirmed by no more.
	surePairs = 11
)

// duel returns a session that tells whether the challenger is to replace the incumbent, by at most so many pairs.
func (c *contest) duel(challenger, incumbent Variant, most int) *duel {
	return &duel{contest: c, challenger: challenger, incumbent: incumbent, most: most, test: signTest{margin: c.margin}}
}

// Next implements Session.
func (d *duel) Next(now float64) (Round, bool) {
	if d.test.rounds == 0 {
		d.since = now
	}
	if !d.isOpen(now) || !d.hasTime(now) {
		return Round{}, false
	}
	return d.round([]Variant{d.challenger, d.incumbent}, d.batch), true
}

// Add implements Session.
func (d *duel) Add(r Round, samples []Sample) {
	first := slices.Index(r.Variants, d.challenger)
	d.test.add(samples[first], samples[1-first])
}

// isOpen tells whether the test needs another pair, and is worth it.
func (d *duel) isOpen(now float64) bool {
	if d.test.over() || d.test.rounds >= d.most {
		return false
	}
	if d.test.rounds < surePairs {
		return true
	}
	next := slices.IndexFunc(looks[:], func(l look) bool { return l.rounds > d.test.rounds })
	each := (now - d.since) / float64(d.test.rounds)
	end := d.limit
	if math.IsInf(end, 1) {
		end = d.since + usualTime
	}
	return now+float64(looks[next].rounds-d.test.rounds)*each <= end
}

// A Decision is the outcome of a duel.
//
// The margin is 3 %, or 10 % where ranks share cores. A variant that is slower than the incumbent by the margin or more, cold or
// hot, wins with a probability of at most 2.1 %. One that is no faster by the margin in either wins with at most 4.2 %. Slower
// means here: in half of the pairs or more. Times may have any distribution, as long as pairs are independent of each
// other. 2.1 % holds for just half of the pairs. For 60 % it is 0.24 %. A confirmation has two looks: 1.2 %.
type Decision struct {
	Variant           // the one that was compared with the incumbent last
	Wins      bool    // it replaces the incumbent
	Decided   bool    // false: the time has run out before
	Pairs     int     // that were timed
	Predicted float64 `json:"-"` // s, of a variant that wins; NaN: not known
	Measured  float64 `json:"-"` // s, median of what is used from now on; NaN: not timed
	Incumbent float64 `json:"-"` // s, median of the incumbent; NaN: not timed
}

// decision is the outcome. Nothing is predicted.
func (d *duel) decision() Decision {
	over := d.test.over() || d.test.rounds >= d.most
	out := Decision{
		Variant: d.challenger, Wins: over && d.test.won(), Decided: over, Pairs: d.test.rounds,
		Predicted: math.NaN(), Incumbent: medians(d.test.opponent).Cold,
	}
	out.Measured = out.Incumbent
	if out.Wins {
		out.Measured = medians(d.test.challenger).Cold
	}
	return out
}
