package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/topocast/topocast/internal/outfile"
)

// A Writer writes a file while it is measured. It belongs to one goroutine.
// The first error is remembered: what follows does nothing, and Err and Close
// return it. Lines leave the buffer with Head, Begin, Mark, End and Close.
type Writer struct {
	w     *bufio.Writer
	err   error
	ranks int      // of the header; 0: it is to come
	open  *Section // the section under way, nil between sections
	bound bounds
	line  []byte

	sections int
	rows     int
}

// writerBuffer holds some thousands of rows: a system call for each would cost more than
// the row.
const writerBuffer = 64 << 10 // B

// NewWriter begins a file. The header may be nil: a measurement that writes its section then gives its own, see Head.
func NewWriter(w io.Writer, h *Header) *Writer {
	out := &Writer{w: bufio.NewWriterSize(w, writerBuffer)}
	if h != nil {
		out.Head(h)
	}
	return out
}

// Head writes the header of a file that has none yet.
func (w *Writer) Head(h *Header) {
	if w.ranks > 0 {
		return
	}
	w.ranks = h.Ranks
	w.fail(h.check())
	w.json(headerLine{format, version, h})
	w.flush()
}

// Begin begins a section: its kind, columns, settings and rows, and of one that is
// Unfinished also notes and rounds so far: whoever resumes begins
// with what was read.
func (w *Writer) Begin(s *Section) {
	switch {
	case w.open != nil:
		w.fail(fmt.Errorf("section %q begins inside %q", s.Kind, w.open.Kind))
	case w.ranks == 0:
		w.fail(fmt.Errorf("section %q before the header", s.Kind))
	default:
		w.fail(s.check())
	}
	if w.err != nil {
		return
	}
	w.json(sectionLine{
		Kind: &s.Kind, Sizes: s.Sizes, Columns: s.Columns, Settings: s.Settings, Runs: s.Runs,
	})
	w.open, w.bound = s, s.bounds(w.ranks)
	w.sections++
	w.Rows(s.Rows)
	if s.Unfinished { // the end of others says the rest
		for _, text := range s.Notes {
			w.Note(text)
		}
		if s.Rounds > 0 || s.TotalRounds > 0 {
			w.Mark(s.Rounds, s.TotalRounds)
		}
	}
	w.flush()
}

// Rows appends rows, one after the other. It refuses ranks, sizes, rounds
// and repetitions that cannot be, and infinite numbers.
func (w *Writer) Rows(rows []float64) {
	if w.err != nil || len(rows) == 0 {
		return
	}
	if w.open == nil {
		w.fail(errors.New("rows outside of a section"))
		return
	}
	width := len(w.open.Columns)
	if len(rows)%width != 0 {
		w.fail(fmt.Errorf("section %q: %d numbers: want rows of %d", w.open.Kind, len(rows), width))
		return
	}
	for row := range slices.Chunk(rows, width) {
		if err := w.bound.check(w.open, row); err != nil {
			w.fail(fmt.Errorf("section %q: %w", w.open.Kind, err))
			return
		}
		w.line = append(appendRow(w.line[:0], row), '\n')
		_, _ = w.w.Write(w.line) // Flush returns the first error
		w.rows++
	}
}

// Mark says that all rows of so many rounds are written, of so many planned,
// and hands everything to the underlying writer.
func (w *Writer) Mark(rounds, total int) {
	w.inside("mark", sectionLine{Rounds: &rounds, TotalRounds: &total})
	w.flush()
}

// Note keeps what was decided while measuring, one sentence.
func (w *Writer) Note(text string) { w.inside("note", sectionLine{Note: &text}) }

// End ends the section under way: with the rounds, notes, warnings and the
// reason to stop of s, which take the place of those that came before.
func (w *Writer) End(s *Section) {
	if w.open == nil || w.open.Kind != s.Kind {
		w.fail(fmt.Errorf("the end of section %q, which is not under way", s.Kind))
	}
	w.fail(s.checkRounds())
	if !s.Unfinished {
		w.json(sectionLine{
			End: &s.Kind, Rounds: &s.Rounds, TotalRounds: &s.TotalRounds, Stopped: &s.Stopped,
			Notes: &s.Notes, Warnings: &s.Warnings,
		})
	}
	w.open = nil
	w.flush()
}

// Close writes the closing line, which tells a whole file from one that is
// under way. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.open != nil {
		w.fail(fmt.Errorf("the file is closed inside of section %q", w.open.Kind))
	}
	closed := true
	w.json(sectionLine{Closed: &closed, Sections: &w.sections, NumRows: &w.rows})
	w.flush()
	return w.err
}

// Open is the kind of the section under way, "" between sections.
func (w *Writer) Open() string {
	if w.open == nil {
		return ""
	}
	return w.open.Kind
}

// Err is the first error, nil if there was none.
func (w *Writer) Err() error { return w.err }

// fail keeps the first error.
func (w *Writer) fail(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("record: write: %w", err)
	}
}

// flush hands everything to the underlying writer.
func (w *Writer) flush() { w.fail(w.w.Flush()) }

// inside writes a line that has its place in a section only.
func (w *Writer) inside(what string, line sectionLine) {
	if w.open == nil {
		w.fail(fmt.Errorf("a %s outside of a section", what))
	}
	w.json(line)
}

// json writes a line.
func (w *Writer) json(line any) {
	if w.err != nil {
		return
	}
	data, err := json.Marshal(line)
	w.fail(err)
	_, _ = w.w.Write(append(data, '\n')) // Flush returns the first error
}

// Write writes the file. The same content gives the same bytes. A file that is
// Unfinished gets no closing line and can be gone on with.
func (f *File) Write(w io.Writer) error {
	out := NewWriter(w, &f.Header)
	for _, s := range f.Sections {
		out.Begin(s)
		out.End(s)
	}
	if f.Unfinished {
		return out.Err()
	}
	return out.Close()
}

// WriteFile writes to a path, where the file appears whole or not at all. Links
// are followed; devices and pipes are written into.
func (f *File) WriteFile(path string) error {
	if err := outfile.Write(path, f.Write); err != nil {
		return fmt.Errorf("record: write file: %w", err)
	}
	return nil
}

// wholeNumbers up to here are written without fraction or exponent, and are
// exact in a float64.
const wholeNumbers = 1 << 53

// appendRow writes numbers in brackets, null for NaN.
func appendRow(line []byte, row []float64) []byte {
	line = append(line, '[')
	for i, v := range row {
		if i > 0 {
			line = append(line, ',')
		}
		if math.IsNaN(v) {
			line = append(line, "null"...)
		} else {
			line = appendNumber(line, v)
		}
	}
	return append(line, ']')
}

// appendNumber writes whole numbers as such, and of others all digits.
func appendNumber(line []byte, v float64) []byte {
	if n := int64(v); float64(n) == v && v > -wholeNumbers && v < wholeNumbers && (n != 0 || !math.Signbit(v)) {
		return strconv.AppendInt(line, n, 10)
	}
	return strconv.AppendFloat(line, v, 'g', -1, 64)
}
