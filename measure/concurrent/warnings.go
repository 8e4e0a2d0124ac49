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
func (r *Result) warn(p *plan) {
	say := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if n := len(r.Patterns); n < r.Planned {
		say("%d of %d patterns were not measured: stopped by the %s", r.Planned-n, r.Planned, r.Stopped)
	}
	count := func(is func(p *Pattern) (weight float64)) (number, worst int) {
		most := 0.0
		for i := range r.Patterns {
			if w := is(&r.Patterns[i]); w > 0 {
				number++
				if w > most {
					worst, most = i, w
				}
			}
		}
		return number, worst
	}
	if n, worst := count(func(q *Pattern) float64 {
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
			n, len(r.Patterns), quantity.Percent(p.Width), worst, width, q.Iterations)
	}
	if n, _ := count(func(q *Pattern) float64 {
		if q.Serial {
			return 1
		}
		return 0
	}); n > 0 {
		say("%d of %d patterns: ranks have several transfers, which the communicator can only move one after the other", n, len(r.Patterns))
	}
	part := func(of func(q *Pattern) float64) func(q *Pattern) float64 {
		return func(q *Pattern) float64 {
			if share := of(q) / q.shortest(); share > noticed {
				return share
			}
			return 0
		}
	}
	if n, worst := count(part(func(q *Pattern) float64 { return q.Skew })); n > 0 {
		q := &r.Patterns[worst]
		say("%d of %d patterns: transfers start more than %s of the shortest one apart, worst in pattern %d: %s of %s",
			n, len(r.Patterns), quantity.Percent(noticed), worst, quantity.Seconds(q.Skew), quantity.Seconds(q.shortest()))
	}
	if n, worst := count(part(func(q *Pattern) float64 { return q.ClockError })); n > 0 {
		q := &r.Patterns[worst]
		say("%d of %d patterns: clocks of ranks are told apart to %s of the shortest transfer or worse, worst in pattern %d: %s of %s",
			n, len(r.Patterns), quantity.Percent(noticed), worst, quantity.Seconds(q.ClockError), quantity.Seconds(q.shortest()))
	}
}
