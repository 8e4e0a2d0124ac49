package measure

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
)

// A collector is what rank 0 does with what the harness has it told: it fills the result, and records it.
type collector struct {
	settings *Settings
	result   *Result
	out      *record.Writer  // nil: none, or it was given up
	row      []float64       // that is written
	asked    int             // repetitions
	earlier  int             // rounds, of the run that this one goes on with
	lost     []string        // that the record was given up
	repeated map[[2]int]bool // rounds (repetition, round) that were measured again
}

// newCollector begins the section of the result in the record. What the result holds already is its beginning, unless the
// caller has begun the section with it. Errors of the writer are found by deliver.
func newCollector(s *Settings, r *Result) *collector {
	if s.Record != nil {
		if s.Record.Head(&r.Header); s.Record.Open() != KindLatency {
			begun := r.Section()
			begun.Unfinished = true
			s.Record.Begin(begun)
		}
	}
	return &collector{
		settings: s, result: r, out: s.Record, asked: s.Repetitions, earlier: r.Rounds,
		repeated: make(map[[2]int]bool),
	}
}

// harness is how the harness is to measure.
func (c *collector) harness() *harness.Settings {
	s := c.settings
	control := s.Control
	control.Notify = c.note
	return &harness.Settings{
		Pairs: s.Pairs, Control: control, Repetitions: c.asked, Samples: c.result.Samples, Seed: s.Seed, Done: c.earlier, Deliver: c.deliver, Again: c.again,
	}
}

// deliver takes the measurements of all ranks, in no order.
func (c *collector) deliver(rows []harness.Row, p harness.Progress) {
	for _, row := range rows {
		for _, x := range measurementsOf(row) {
			c.take(x)
		}
	}
	c.mark(p.Done, p.Total)
}

// take takes in a measurement.
func (c *collector) take(x Measurement) {
	c.result.measurements = append(c.result.measurements, x)
	c.result.Repetitions = max(c.result.Repetitions, x.Repetition+1)
	if c.out != nil {
		c.row = x.appendRow(c.row[:0])
		c.out.Rows(c.row)
	}
}

// mark says that what all ranks have measured in so many rounds is there.
func (c *collector) mark(rounds, total int) {
	if c.out == nil {
		return
	}
	c.out.Mark(rounds, max(rounds, total))
	if err := c.out.Err(); err != nil {
		c.out = nil
		c.lost = append(c.lost, unrecorded(err))
		c.note(unrecorded(err))
	}
}

// unrecorded says that the record is not whole.
func unrecorded(err error) string {
	return "the record cannot be written and was given up: " + err.Error()
}

// note tells a decision.
func (c *collector) note(text string) {
	if c.out != nil {
		c.out.Note(text)
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
	r.Notes = slices.Clone(o.Notes)
	if c.earlier > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %s are of an earlier run", c.earlier, words.Count(o.Rounds, "round")))
	}
	if n := len(c.repeated); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s that were slower than the others by more than 3 sigma were measured again", words.Count(n, "round")))
	}
	c.close()
}

// close sorts the measurements, says what is uncertain about them, and ends the section in the record.
func (c *collector) close() {
	r := c.result
	r.Notes = append(r.Notes, c.lost...)
	slices.SortFunc(r.measurements, compareMeasurements)
	r.Warnings = warnings(r)
	if c.out != nil {
		if c.out.End(r.section()); c.out.Err() != nil {
			r.Warnings = append(r.Warnings, unrecorded(c.out.Err()))
		}
	}
}
