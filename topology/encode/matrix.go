package encode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"
)

// Latencies are what a file of latencies holds.
type Latencies struct {
	Matrix     *mat.Dense // s; NaN: not measured, and the diagonal
	Names      []string   // of the hosts; nil: the file has none
	Unit       Unit       // of the numbers in the file
	UnitStated bool       // whether the file names the unit itself
	Understood string     // how the file was understood, in one line
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
// A table may also stand in text, in brackets, in Markdown, in a MatrixMarket
// file, or as a list with a line for each pair. Cells may carry units, each its
// own. Of a pair that a list has several times the median counts. Distances of
// the SLIT, as numactl prints them, are refused: they are no times.
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
	data, err := readLines(r)
	if err != nil {
		return nil, fmt.Errorf("encode: read matrix: %w", err)
	}
	l, err := understand(data, unit)
	if err != nil {
		return nil, fmt.Errorf("encode: read matrix: %w", err)
	}
	return l, nil
}

// readLines reads a file whose lines end.
func readLines(r io.Reader) ([]byte, error) {
	var data []byte
	line, from := 1, 0
	for buffer := make([]byte, 64<<10); ; {
		n, err := r.Read(buffer)
		data = append(data, buffer[:n]...)
		for i := len(data) - n; i < len(data); i++ {
			if data[i] == '\n' || data[i] == '\r' {
				line, from = line+1, i+1
			}
		}
		switch {
		case len(data)-from > maxLine:
			return nil, fmt.Errorf("line %d: longer than %d bytes", line, maxLine)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// secondsBelow is a time in s so short that a file without a unit must mean seconds: in any other unit it were less than
// light takes for 3 m.
const secondsBelow = 0.01

// understand reads a table in whatever text it stands.
func understand(data []byte, unit Unit) (*Latencies, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("line 1: the file is in UTF-16: save it as UTF-8")
	}
	isOwn := bytes.HasPrefix(bytes.TrimPrefix(data, []byte("\ufeff")), []byte(ownComment))
	found, where, err := Unit(0), "", error(nil)
	if !isOwn {
		data = fromLatin1(data)
		if found, where, err = findUnit(data); err != nil {
			return nil, err
		}
		if found != 0 && unit != 0 && found != unit {
			return nil, fmt.Errorf("line 1: the file is in %s, not in %s (%q)", found, unit, where)
		}
	}
	as := unit
	if as == 0 {
		as = found
	}
	var from *rewritten
	l, err := readTable(data, as)
	if isUnit := (unitError{}); errors.As(err, &isUnit) {
		return nil, err
	}
	if !isOwn && (err != nil || l.Names == nil && mayBeNumbered(data, l)) {
		if m := unitComment.FindSubmatch(data); m != nil && as == 0 {
			if u, failed := ParseUnit(string(m[1])); failed == nil {
				as, found, where = u, u, string(m[0])
			}
		}
		r, failed := rewrite(data, as)
		if failed == nil {
			if r.unit != 0 && as != 0 && r.unit != as {
				return nil, fmt.Errorf("line 1: cells are in %s, not in %s", r.unit, as)
			}
			if r.unit != 0 {
				as, found, where = r.unit, r.unit, r.where
			}
			var again *Latencies
			if again, failed = readTable(r.text, as); failed == nil {
				l, err, from = again, nil, r
				l.Warnings = append(l.Warnings, r.warnings...)
			}
		}
		if isForm := (formError{}); errors.As(failed, &isForm) {
			err = failed
		} else if isUnit := (unitError{}); errors.As(failed, &isUnit) {
			err = failed
		}
	}
	if err != nil {
		return nil, err
	}
	l.UnitStated = l.UnitStated || found != 0
	if unit == 0 && !l.UnitStated && largest(l.Matrix) >= secondsBelow {
		return nil, errNoUnit
	}
	if !isOwn {
		if from == nil && l.Names == nil {
			if err := l.mayBeLabelled(data); err != nil {
				return nil, err
			}
		}
		l.leaveOutPlaceholders()
		l.leaveOutSilent()
		l.leaveOutDead()
	}
	l.Understood = l.describe(unit, where, from)
	return l, nil
}

// fromLatin1 returns a text in UTF-8. Text that is no UTF-8 is taken for Latin-1, in which any bytes are text.
func fromLatin1(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	var text []byte
	for _, c := range data {
		text = utf8.AppendRune(text, rune(c))
	}
	return text
}

// largest is the largest measured value of a matrix, or 0.
func largest(m *mat.Dense) float64 {
	most := 0.0
	for _, v := range m.RawMatrix().Data {
		if v > most {
			most = v
		}
	}
	return most
}

// describe says in one line how the file was understood.
func (l *Latencies) describe(given Unit, where string, from *rewritten) string {
	n, _ := l.Matrix.Dims()
	absent := 0
	for i := range n {
		for k := range n {
			if i != k && math.IsNaN(l.Matrix.At(i, k)) {
				absent++
			}
		}
	}
	text := fmt.Sprintf("read %d hosts", n)
	switch {
	case from != nil && from.names != "":
		text += " (names " + from.names + ")"
	case l.Names != nil:
		text += " (with names)"
	default:
		text += " (without names)"
	}
	text += ", unit " + l.Unit.String()
	switch {
	case given != 0:
		text += " (as given)"
	case where != "":
		text += fmt.Sprintf(" (from %q)", where)
	case !l.UnitStated:
		text += fmt.Sprintf(" (none is named, and all numbers are below %g)", secondsBelow)
	}
	if absent > 0 {
		text += fmt.Sprintf(", %d cells missing", absent)
	}
	if from != nil && from.skipped > 0 {
		text += fmt.Sprintf(", %d lines of text skipped", from.skipped)
	}
	return text
}

// readTable reads a table that is nothing but that.
func readTable(data []byte, unit Unit) (*Latencies, error) {
	t := table{given: unit}
	if err := t.read(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	s, err := t.shape()
	if err != nil {
		return nil, err
	}
	l := &Latencies{Names: s.names, Unit: t.unit, UnitStated: t.stated}
	cells, err := t.fill(s)
	if err != nil {
		return nil, err
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
		return unitError{fmt.Errorf("line %d: unit %q: want s, ms, us or ns", line, shorten(found[1]))}
	case t.given != 0 && unit != t.given:
		return unitError{fmt.Errorf("line %d: the file is in %s, not in %s", line, unit, t.given)}
	case t.stated && unit != t.unit:
		return unitError{fmt.Errorf("line %d: the unit is %s, and was %s before", line, unit, t.unit)}
	case len(t.rows) > 0 && unit != t.unit:
		return unitError{fmt.Errorf("line %d: the unit %s stands below the first numbers", line, unit)}
	}
	t.unit, t.stated = unit, true
	return nil
}
