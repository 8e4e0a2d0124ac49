package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/harness"
)

// sectionLine is the layout of all lines but the header and rows: which keys it has says
// what it is.
type sectionLine struct {
	// A section begins.
	Kind     *string         `json:"kind,omitempty"`
	Sizes    []int           `json:"sizes_bytes,omitempty"`
	Columns  []string        `json:"columns,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Runs     int             `json:"runs,omitempty"`

	Note    *string `json:"note,omitempty"`
	Warning *string `json:"warning,omitempty"`

	// A section ends, or, with rounds only, is so far.
	End         *string          `json:"end,omitempty"`
	Rounds      *int             `json:"rounds,omitempty"`
	TotalRounds *int             `json:"total_rounds,omitempty"`
	Stopped     *harness.Stopped `json:"stopped,omitempty"`
	Notes       *[]string        `json:"notes,omitempty"`
	Warnings    *[]string        `json:"warnings,omitempty"`

	// The file ends.
	Closed   *bool `json:"closed,omitempty"`
	Sections *int  `json:"sections,omitempty"`
	NumRows  *int  `json:"rows,omitempty"`
}

// Read reads a file. One that is not closed is Unfinished, and its last
// line may be cut off. Rows below the last mark of its last section are left out: they belong to rounds of which some
// are missing. Other formats and versions, keys that are not known,
// and numbers that cannot be are refused. An error that wraps ErrFormat says
// that it is another kind of file. O(length) time; 8 B of memory per number.
func Read(r io.Reader) (*File, error) {
	d := decoder{lines: bufio.NewReaderSize(r, readerBuffer)}
	if err := d.run(); err != nil {
		return nil, fmt.Errorf("record: read: %w", err)
	}
	return &d.file, nil
}

// readerBuffer holds a row in any case, and some thousands of them; longer lines are put together.
const readerBuffer = 64 << 10 // B

type decoder struct {
	lines  *bufio.Reader
	long   []byte // a line that is longer than the buffer
	number int    // of the line, from 1

	file   File
	open   *Section // nil between sections
	bound  bounds
	rows   int // in all
	marked int // numbers of the section under way above its last mark; -1: it has none
}

// next returns the next line without its end; whole is false if there was
// none. It is valid until the next call.
func (d *decoder) next() (line []byte, whole bool, err error) {
	d.number++
	line, err = d.lines.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		d.long = d.long[:0]
		for err == bufio.ErrBufferFull {
			d.long = append(d.long, line...)
			line, err = d.lines.ReadSlice('\n')
		}
		d.long = append(d.long, line...)
		line = d.long
	}
	if err == io.EOF {
		return line, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return line[:len(line)-1], true, nil
}

func (d *decoder) run() error {
	first, _, err := d.next()
	if err != nil {
		return err
	}
	var kind struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	switch err := json.Unmarshal(first, &kind); {
	case err != nil && bytes.Contains(first, []byte(Format)):
		return fmt.Errorf("line 1: not a whole header, which is one line: %w", err)
	case err != nil:
		return fmt.Errorf("%w: line 1 is no header: %w", ErrFormat, err)
	case kind.Format != Format:
		return fmt.Errorf("%w: format %q: want %q", ErrFormat, kind.Format, Format)
	case kind.Version > version:
		return fmt.Errorf("version %d is newer than this program: want %d", kind.Version, version)
	case kind.Version < version:
		return fmt.Errorf("version %d: want %d", kind.Version, version)
	}
	head := headerLine{Header: &d.file.Header}
	if err := jsonfile.Decode(bytes.NewReader(first), &head); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if err := d.file.check(); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	for closed := false; ; {
		line, whole, err := d.next()
		switch {
		case err != nil:
			return err
		case closed && (whole || len(line) > 0):
			return fmt.Errorf("line %d: more after the closing line", d.number)
		case closed:
			return nil
		case !whole: // the process ended while it wrote
			d.file.Unfinished = true
			d.endSection()
			return nil
		}
		if len(line) > 0 && line[0] == '[' {
			err = d.takeRow(line)
		} else {
			closed, err = d.takeLine(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", d.number, err)
		}
	}
}

func (d *decoder) takeRow(line []byte) error {
	if d.open == nil {
		return errors.New("a row outside of a section")
	}
	s := d.open
	rows, err := parseRow(s.Rows, line)
	if err != nil {
		return err
	}
	row := rows[len(s.Rows):]
	if len(row) != len(s.Columns) {
		return fmt.Errorf("%d numbers: want %d", len(row), len(s.Columns))
	}
	d.rows++
	s.Rows = rows
	return d.bound.check(s, row)
}

// takeLine takes a line that is no row, and tells whether it closes the file.
func (d *decoder) takeLine(data []byte) (closed bool, err error) {
	var line sectionLine
	if err := jsonfile.Decode(bytes.NewReader(data), &line); err != nil {
		return false, err
	}
	s := d.open
	switch {
	case line.Kind != nil:
		d.endSection()
		s = &Section{
			Kind: *line.Kind, Sizes: line.Sizes, Columns: line.Columns, Settings: line.Settings, Runs: line.Runs,
		}
		if err := s.check(); err != nil {
			return false, err
		}
		d.beginSection(s)
		return false, nil
	case line.Closed != nil:
		d.endSection()
		if line.Sections == nil || *line.Sections != len(d.file.Sections) || line.NumRows == nil || *line.NumRows != d.rows {
			return false, fmt.Errorf("the file is not whole: it has %d sections and %d rows, and other numbers in its closing line", len(d.file.Sections), d.rows)
		}
		return true, nil
	case s == nil:
		return false, fmt.Errorf("%.40s: want a section to begin, or the closing line", data)
	case line.Note != nil:
		s.Notes = append(s.Notes, *line.Note)
		return false, nil
	case line.Warning != nil:
		s.Warnings = append(s.Warnings, *line.Warning)
		return false, nil
	case line.Rounds == nil || line.TotalRounds == nil:
		return false, fmt.Errorf("%.40s: this line is not known", data)
	case *line.Rounds < s.Rounds:
		return false, fmt.Errorf("rounds: %d after %d", *line.Rounds, s.Rounds)
	}
	s.Rounds, s.TotalRounds = *line.Rounds, *line.TotalRounds
	d.marked = len(s.Rows)
	if err := s.checkRounds(); err != nil {
		return false, err
	}
	if line.End != nil {
		if *line.End != s.Kind {
			return false, fmt.Errorf("the end of section %q inside of %q", *line.End, s.Kind)
		}
		if line.Stopped != nil {
			s.Stopped = *line.Stopped
		}
		if line.Notes != nil {
			s.Notes = *line.Notes
		}
		if line.Warnings != nil {
			s.Warnings = *line.Warnings
		}
		d.open = nil
	}
	return false, nil
}

func (d *decoder) beginSection(s *Section) {
	d.open, d.bound, d.marked = s, s.bounds(d.file.Ranks), -1
	d.file.Sections = append(d.file.Sections, s)
}

// endSection leaves a section that has no end of its own, without the rows below its last mark.
func (d *decoder) endSection() {
	if d.open == nil {
		return
	}
	if d.marked >= 0 {
		d.open.Rows = d.open.Rows[:d.marked]
	}
	d.open.Unfinished = true
	d.open = nil
}
