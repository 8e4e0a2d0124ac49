package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

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

	Note *string `json:"note,omitempty"`

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
	d := decoder{lines: bufio.NewScanner(r)}
	d.lines.Buffer(make([]byte, readerBuffer), math.MaxInt)
	d.lines.Split(wholeLine)
	if err := d.run(); err != nil {
		return nil, fmt.Errorf("record: read: %w", err)
	}
	return &d.file, nil
}

// ReadFile reads a file, see Read.
func ReadFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("record: read: %w", err)
	}
	defer f.Close()
	file, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return file, nil
}

// readerBuffer holds a row in any case, and some thousands of them. It grows for longer lines.
const readerBuffer = 64 << 10 // B

// wholeLine is bufio.ScanLines that keeps the end of a line, which tells whether the line is whole.
func wholeLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	end := bytes.IndexByte(data, '\n') + 1
	if end == 0 && atEOF {
		end = len(data)
	}
	if end == 0 {
		return 0, nil, nil
	}
	return end, data[:end], nil
}

type decoder struct {
	lines  *bufio.Scanner
	number int // of the line, from 1

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
	d.lines.Scan()
	line, whole = bytes.CutSuffix(d.lines.Bytes(), []byte("\n"))
	return line, whole, d.lines.Err()
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
	case err != nil && bytes.Contains(first, []byte(format)):
		return fmt.Errorf("line 1: not a whole header, which is one line: %w", err)
	case err != nil:
		return fmt.Errorf("%w: line 1 is no header: %w", ErrFormat, err)
	case kind.Format != format:
		return fmt.Errorf("%w: format %q: want %q", ErrFormat, kind.Format, format)
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
		d.open, d.bound, d.marked = s, s.bounds(d.file.Ranks), -1
		d.file.Sections = append(d.file.Sections, s)
		return false, s.check()
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
