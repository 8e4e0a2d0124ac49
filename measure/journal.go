package measure

import (
	"github.com/topocast/topocast/measure/record"
)

// A journal is the section of a measurement under way, in a file of its own or as
// the next one of a file that is under way itself.
type journal struct {
	w   *record.Writer
	own bool // the file: to be closed
	row []float64
}

// newJournal begins a journal; nil where there is nowhere to write. What the result
// holds already is its beginning, unless the caller has begun the section with
// it. Errors of the writer are found by write.
func newJournal(s *Settings, r *Result) *journal {
	j := &journal{w: s.Record}
	switch {
	case j.w == nil && s.Journal == nil:
		return nil
	case j.w == nil:
		j.w, j.own = record.NewWriter(s.Journal, &r.Header), true
	}
	if j.w.Open() != KindLatency {
		begun := r.Section()
		begun.Unfinished = true
		j.w.Begin(begun)
		j.w.Flush()
	}
	return j
}

// write appends readings: those of all ranks up to so many rounds are now there.
func (j *journal) write(readings []Reading, rounds, total int) error {
	for i := range readings {
		j.row = readings[i].appendRow(j.row[:0])
		j.w.Rows(j.row)
	}
	j.w.Mark(rounds, max(rounds, total))
	return j.w.Err()
}

// end ends the section with what became of the measurement.
func (j *journal) end(r *Result) error {
	j.w.End(r.section())
	if j.own {
		return j.w.Close()
	}
	return j.w.Err()
}

// unjournaled says that the journal is not whole.
func unjournaled(err error) string {
	return "the journal cannot be written and was given up: " + err.Error()
}
