package encode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"

	"gonum.org/v1/gonum/mat"
)

// Latencies are what a file of latencies holds.
type Latencies struct {
	Matrix     *mat.Dense // s; NaN: not measured, and the diagonal
	Names      []string   // of the hosts; nil: the file has none
	Unit       Unit       // of the numbers in the file
	UnitStated bool       // whether the file names the unit itself
	Warnings   []string   // what is odd, a sentence each
}

// unitComment finds the unit in a comment: "# topocast latencies, unit: us".
var unitComment = regexp.MustCompile(`(?i)\bunits?\s*[:=]\s*([^\s,;()]+)`)

// ownComment begins the first line of the files that WriteMatrix writes.
const ownComment = "# topocast latencies"

// ReadMatrix reads a matrix of latencies: one line per host, cell (i, j) the
// latency from host i to host j. The unit counts for files that do not name
// theirs; 0 means none is known, and then it is s. A file that names another one is
// refused.
//
// Cells are separated by commas, semicolons, tabs or blanks, whichever the
// first lines have, and may be quoted. Numbers have a decimal point, or a
// decimal comma where commas separate nothing. Empty cells, nan, NA, null, none
// and - mean "not measured". The diagonal is not used: it may be empty or hold
// any number. Names of the hosts may stand in a first line, in a first column, or
// both; quoted numbers, and whole numbers that count from 0, are names, too.
// Lines that begin with # are comments; one with "unit: us" names the unit.
// A byte order mark, line ends of Windows, a separator at the end of every line
// and blank lines before and after the matrix are passed over. If one triangle
// is empty throughout, or left out, the other is mirrored into it, except in
// files of WriteMatrix.
//
// Everything else is an error that names the line and, where there is one, the
// column, both counted from 1: cells that are not numbers, are negative or
// infinite, lines of unequal length, files that are empty, not square or above
// 32768 hosts. Values that can be, but hardly are, make warnings. O(size of the
// file).
func ReadMatrix(r io.Reader, unit Unit) (*Latencies, error) {
	if !(unit >= 0) || math.IsInf(float64(unit), 1) {
		return nil, fmt.Errorf("encode: read matrix: unit of %g s: want above 0", float64(unit))
	}
	t := table{given: unit}
	if err := t.read(r); err != nil {
		return nil, fmt.Errorf("encode: read matrix: %w", err)
	}
	s, err := t.shape()
	if err != nil {
		return nil, fmt.Errorf("encode: read matrix: %w", err)
	}
	l := &Latencies{Names: s.names, Unit: t.unit, UnitStated: t.stated}
	cells, err := t.fill(s)
	if err != nil {
		return nil, fmt.Errorf("encode: read matrix: %w", err)
	}
	if !t.own {
		mirror(cells, s.n)
	}
	l.Matrix = mat.NewDense(s.n, s.n, cells)
	why := "for want of another"
	switch {
	case t.stated:
		why = "as the file says"
	case unit > 0:
		why = "as given"
	}
	l.Warnings = append(s.warnings, doubts(cells, s.n, t.unit, why)...)
	return l, nil
}

// firstLines is how many rows are read before the separator is chosen: the
// first may have none, in a triangle or as a line of names.
const firstLines = 4

// read reads all lines.
func (t *table) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	lines.Split(scanLines)
	line := 0
	type numbered struct {
		number int
		text   []byte
	}
	var first []numbered
	start := func() error {
		if t.comma != 0 {
			return nil
		}
		var texts [][]byte
		for _, l := range first {
			texts = append(texts, l.text)
		}
		t.comma = separator(texts)
		for _, l := range first {
			if err := t.line(l.number, l.text); err != nil {
				return err
			}
		}
		return nil
	}
	for lines.Scan() {
		line++
		text := lines.Bytes()
		if line == 1 {
			if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
				return fmt.Errorf("line 1: the file is in UTF-16: save it as UTF-8")
			}
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // spreadsheets write a byte order mark
			if len(text) == len("sep=;") && bytes.HasPrefix(text, []byte("sep=")) && bytes.IndexByte([]byte(";,\t |"), text[4]) >= 0 {
				t.comma = text[4] // for spreadsheets
				continue
			}
		}
		if isComment(text) {
			if err := t.comment(line, text); err != nil {
				return err
			}
			continue
		}
		if t.comma == 0 {
			if first = append(first, numbered{line, bytes.Clone(text)}); len(first) == firstLines {
				if err := start(); err != nil {
					return err
				}
			}
			continue
		}
		if err := t.line(line, text); err != nil {
			return err
		}
	}
	if err := start(); err != nil {
		return err
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d: longer than %d bytes", line+1, maxLine)
	case err != nil:
		return fmt.Errorf("line %d: %w", line+1, err)
	case len(t.rows) == 0:
		return fmt.Errorf("line 1: the file is empty")
	}
	t.end = line + 1
	return nil
}

// scanLines cuts at \n, \r\n and the lone \r of old spreadsheets.
func scanLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\n':
		return i + 1, data[:i], nil
	case i+1 == len(data) && !atEOF:
		return 0, nil, nil // a \n may follow
	case i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	}
	return i + 1, data[:i], nil
}

// isComment tells whether a line is a comment. #N/A is what a spreadsheet
// writes for no value.
func isComment(text []byte) bool {
	text = bytes.TrimLeft(text, " \t")
	return len(text) > 0 && text[0] == '#' && !bytes.HasPrefix(bytes.ToUpper(text[:min(4, len(text))]), []byte("#N/A"))
}

// comment reads the unit of a comment.
func (t *table) comment(line int, text []byte) error {
	if line == 1 && bytes.HasPrefix(text, []byte(ownComment)) {
		t.own = true
	}
	found := unitComment.FindSubmatch(text)
	if found == nil {
		return nil
	}
	unit, err := ParseUnit(string(found[1]))
	switch {
	case err != nil && t.given != 0:
		return nil // the caller knows better
	case err != nil:
		return fmt.Errorf("line %d: unit %q: want s, ms, us or ns", line, shorten(found[1]))
	case t.given != 0 && unit != t.given:
		return fmt.Errorf("line %d: the file is in %s, not in %s", line, unit, t.given)
	case t.stated && unit != t.unit:
		return fmt.Errorf("line %d: the unit is %s, and was %s before", line, unit, t.unit)
	case len(t.rows) > 0 && unit != t.unit:
		return fmt.Errorf("line %d: the unit %s stands below the first numbers", line, unit)
	}
	t.unit, t.stated = unit, true
	return nil
}
