package concurrent

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/record"
)

// noticed is the part of a transfer, in warnings of the shortest of a pattern, from which on skew and clocks
// count: half the width that times are wanted to.
const noticed = defaultWidth / 2

// warn says what is uncertain, each once with its worst case.
func (r *Result) warn(s *Settings) {
	say := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if n := len(r.Patterns); n < r.Planned {
		say("%d of %d patterns were not measured: stopped by the %s", r.Planned-n, r.Planned, r.Stopped)
	}
	// weak tells of patterns that have a weight above the least, and says more of the one with the greatest.
	uncertain := func(least float64, weight func(p *Pattern) float64, more func(worst *Pattern, index int) string) {
		number, worst := 0, -1
		for i := range r.Patterns {
			if w := weight(&r.Patterns[i]); w > least {
				number++
				if worst < 0 || w > weight(&r.Patterns[worst]) {
					worst = i
				}
			}
		}
		if number > 0 {
			say("%d of %d patterns: %s", number, len(r.Patterns), more(&r.Patterns[worst], worst))
		}
	}
	uncertain(s.Width, (*Pattern).widest, func(q *Pattern, worst int) string {
		width := "of one measurement"
		if w := q.widest(); !math.IsInf(w, 0) {
			width = quantity.Percent(w)
		}
		return fmt.Sprintf("the interval of a mean is wider than %s of it when the iterations or the budget ended, worst in pattern %d: %s after %s",
			quantity.Percent(s.Width), worst, width, words.Count(q.Iterations, "iteration"))
	})
	uncertain(0, func(q *Pattern) float64 { return record.Flag(q.Serial) }, func(*Pattern, int) string {
		return "ranks have several transfers, which the communicator can only move one after the other"
	})
	uncertain(noticed, func(q *Pattern) float64 { return q.Skew / q.shortest() }, func(q *Pattern, worst int) string {
		return fmt.Sprintf("transfers start more than %s of the shortest one apart, worst in pattern %d: %s of %s",
			quantity.Percent(noticed), worst, quantity.Seconds(q.Skew), quantity.Seconds(q.shortest()))
	})
	uncertain(noticed, func(q *Pattern) float64 { return q.ClockError / q.shortest() }, func(q *Pattern, worst int) string {
		return fmt.Sprintf("clocks of ranks are told apart to %s of the shortest transfer or worse, worst in pattern %d: %s of %s",
			quantity.Percent(noticed), worst, quantity.Seconds(q.ClockError), quantity.Seconds(q.shortest()))
	})
}
