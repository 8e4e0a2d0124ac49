package concurrent

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/quantity"
)

// noticed is the part of a transfer, in warnings of the shortest of a pattern, from which on skew and clocks
// count: half the width that times are wanted to.
const noticed = defaultWidth / 2

// warn says what is weak, each once with its worst case.
func (r *Result) warn(s *Settings) {
	say := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if n := len(r.Patterns); n < r.Planned {
		say("%d of %d patterns were not measured: stopped by the %s", r.Planned-n, r.Planned, r.Stopped)
	}
	// count is how many patterns have a weight above the least, and which has the greatest.
	count := func(least float64, weight func(p *Pattern) float64) (number, worst int) {
		most := least
		for i := range r.Patterns {
			if w := weight(&r.Patterns[i]); w > least {
				number++
				if w > most {
					worst, most = i, w
				}
			}
		}
		return number, worst
	}
	if n, worst := count(0, func(q *Pattern) float64 {
		if q.Converged {
			return 0
		}
		return q.widest()
	}); n > 0 {
		q := &r.Patterns[worst]
		width := "of one reading"
		if w := q.widest(); !math.IsInf(w, 0) {
			width = quantity.Percent(w)
		}
		say("%d of %d patterns: the interval of a mean is wider than %s of it when the iterations or the budget ended, worst in pattern %d: %s after %d iterations",
			n, len(r.Patterns), quantity.Percent(s.Width), worst, width, q.Iterations)
	}
	if n, _ := count(0, func(q *Pattern) float64 {
		if q.Serial {
			return 1
		}
		return 0
	}); n > 0 {
		say("%d of %d patterns: ranks have several transfers, which the communicator can only move one after the other", n, len(r.Patterns))
	}
	if n, worst := count(noticed, func(q *Pattern) float64 { return q.Skew / q.shortest() }); n > 0 {
		q := &r.Patterns[worst]
		say("%d of %d patterns: transfers start more than %s of the shortest one apart, worst in pattern %d: %s of %s",
			n, len(r.Patterns), quantity.Percent(noticed), worst, quantity.Seconds(q.Skew), quantity.Seconds(q.shortest()))
	}
	if n, worst := count(noticed, func(q *Pattern) float64 { return q.ClockError / q.shortest() }); n > 0 {
		q := &r.Patterns[worst]
		say("%d of %d patterns: clocks of ranks are told apart to %s of the shortest transfer or worse, worst in pattern %d: %s of %s",
			n, len(r.Patterns), quantity.Percent(noticed), worst, quantity.Seconds(q.ClockError), quantity.Seconds(q.shortest()))
	}
}
