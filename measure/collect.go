package measure

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
)

// A collector is what rank 0 does with what the harness has it told: it fills the result.
type collector struct {
	settings *Settings
	result   *Result
	journal  *journal        // nil: none
	asked    int             // repetitions
	earlier  int             // rounds, of the run that this one goes on with
	lost     []string        // that the journal was given up
	repeated map[[2]int]bool // rounds (repetition, round) that were measured again
}

func newCollector(s *Settings, r *Result) *collector {
	return &collector{
		settings: s, result: r, journal: newJournal(s, r), asked: cmp.Or(s.Repetitions, defaultRepetitions), earlier: r.Rounds,
		repeated: make(map[[2]int]bool),
	}
}

// harness is how the harness is to measure.
func (c *collector) harness() *harness.Settings {
	s := c.settings
	return &harness.Settings{
		Pairs: s.Pairs, Repetitions: c.asked, Seed: s.Seed, Done: c.earlier, Deliver: c.deliver, Again: c.again,
		Control: harness.Control{Silence: s.Silence, Notify: c.note, Progress: s.Progress},
	}
}

// deliver takes the readings of all ranks, in no order.
func (c *collector) deliver(rows []harness.Row, p harness.Progress) {
	r := c.result
	before := len(r.readings)
	for _, row := range rows {
		r.readings = append(r.readings, readingOf(row))
		r.Repetitions = max(r.Repetitions, row.Repetition+1)
	}
	if c.journal == nil {
		return
	}
	if err := c.journal.write(r.readings[before:], p.Done, p.Total); err != nil {
		c.journal = nil
		c.lost = append(c.lost, unjournaled(err))
		c.note(unjournaled(err))
	}
}

// note tells a decision.
func (c *collector) note(text string) {
	if c.journal != nil {
		c.journal.w.Note(text)
	}
	if c.settings.Notify != nil {
		c.settings.Notify(text)
	}
}

// end completes the result.
func (c *collector) end(o *harness.Outcome) {
	r := c.result
	r.Repetitions = max(r.Repetitions, o.Repetitions)
	r.Rounds, r.TotalRounds, r.Stopped = o.Rounds, o.TotalRounds, o.Stopped
	r.Notes = slices.Concat(o.Notes, c.lost)
	if c.earlier > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %s are of an earlier run", c.earlier, words.Count(o.Rounds, "round")))
	}
	if n := len(c.repeated); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s that were slower than the others by more than 3 sigma were measured again", words.Count(n, "round")))
	}
	slices.SortFunc(r.readings, compareReadings)
	r.Warnings = warnings(r)
	if c.journal != nil {
		if err := c.journal.end(r); err != nil {
			r.Warnings = append(r.Warnings, unjournaled(err))
		}
	}
}
