package encode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits of ReadMatrix. A line is never kept whole beyond maxLine bytes, and
// the matrix grows with the lines read, so a hostile file costs no more memory
// than a small multiple of its own size.
const (
	maxColumns = 1 << 15
	maxLine    = 4 << 20
)

// A table is the cells of a file before it is known which of them are names.
type table struct {
	given  Unit // by the caller; 0: none
	unit   Unit // in use
	stated bool // by the file
	own    bool // written by WriteMatrix

	comma   byte // that separates cells; 0: not chosen yet; ' ' stands for any blanks
	decimal byte // the decimal mark; 0: none was seen
	gap     int  // the line of a blank line after a row, or 0
	lead    bool // a blank line stands before the first row
	hole    int  // the line of one after the first row, or 0
	end     int  // the line after the last

	rows   []row
	cells  []float64 // of all rows; words are NaN
	first  []label   // the cells of the first row
	quoted bool      // numbers below the first row and right of the first column are quoted

	buffer []byte // for numbers
}

// A row is one line of cells.
type row struct {
	line       int
	start, end int   // in cells
	head       label // its first cell
	empty      bool  // its last cell is empty
}

// A label is a cell that may be a name.
type label struct {
	text   string
	quoted bool
	word   bool // neither a number nor missing
}

// named tells whether the cell can be nothing but a name.
func (l label) named(quotedNumbers bool) bool { return l.word || l.quoted && !quotedNumbers }

// separator chooses the separator that the first lines have outside of quotes.
func separator(lines [][]byte) byte {
	var has [256]bool
	for _, line := range lines {
		quoted := false
		for _, c := range bytes.TrimRight(line, " ") {
			quoted = quoted != (c == '"')
			has[c] = has[c] || !quoted
		}
	}
	for _, c := range []byte{';', '\t', ','} {
		if has[c] {
			return c
		}
	}
	return ' '
}

// separatorName says the separator in errors.
func (t *table) separatorName() string {
	switch t.comma {
	case ';':
		return "semicolons"
	case '\t':
		return "tabs"
	case ' ':
		return "blanks"
	case ',':
		return "commas"
	}
	return fmt.Sprintf("%q", t.comma)
}

// line reads a line that is not a comment.
func (t *table) line(number int, text []byte) error {
	if len(text) == 0 || t.comma != '\t' && len(bytes.TrimSpace(text)) == 0 {
		switch {
		case len(t.rows) == 0:
			t.lead = true
		case len(t.rows) == 1 && t.hole == 0:
			t.hole = number
		case len(t.rows) > 1 && t.gap == 0:
			t.gap = number
		}
		return nil
	}
	if t.gap != 0 {
		return fmt.Errorf("line %d: empty line inside the matrix", t.gap)
	}
	if t.unit == 0 {
		if t.unit = t.given; t.unit == 0 {
			t.unit = Second
		}
	}
	r := row{line: number, start: len(t.cells)}
	column := 0
	for rest, more := text, true; more; {
		if t.comma == ' ' {
			if rest = bytes.TrimLeft(rest, " \t"); len(rest) == 0 {
				break
			}
		}
		var cell []byte
		var quoted bool
		var err error
		column++
		if cell, quoted, rest, more, err = t.next(rest); err != nil {
			return fmt.Errorf("line %d, column %d: %w", number, column, err)
		}
		if column > maxColumns+2 { // names, and a separator at the end
			return fmt.Errorf("line %d: more than %d columns", number, maxColumns)
		}
		head := len(t.rows) == 0 || column == 1
		v, word, err := t.number(cell, head)
		if err != nil {
			return fmt.Errorf("line %d, column %d: %w", number, column, err)
		}
		if word && !head {
			return t.notANumber(number, column, cell)
		}
		if head {
			l := label{string(cell), quoted, word}
			if column == 1 {
				r.head = l
			}
			if len(t.rows) == 0 {
				t.first = append(t.first, l)
			}
		}
		t.quoted = t.quoted || quoted && !head
		t.cells = append(t.cells, v)
		r.empty = len(cell) == 0 && !quoted
	}
	r.end = len(t.cells)
	t.rows = append(t.rows, r)
	if longest := max(len(t.first), column); len(t.rows) > longest+2 {
		return fmt.Errorf("line %d: more lines than the %d columns, separated by %s: want a square matrix", number, longest, t.separatorName())
	}
	return nil
}

func (t *table) notANumber(line, column int, cell []byte) error {
	return fmt.Errorf("line %d, column %d: %q is not a number (cells are separated by %s)", line, column, shorten(cell), t.separatorName())
}

// next cuts the first cell off a line; more tells whether another one follows.
func (t *table) next(line []byte) (cell []byte, quoted bool, rest []byte, more bool, err error) {
	at := func(b []byte) int {
		if t.comma == ' ' {
			return bytes.IndexAny(b, " \t")
		}
		return bytes.IndexByte(b, t.comma)
	}
	trimmed := bytes.TrimLeft(line, " ")
	if len(trimmed) > 0 && trimmed[0] == '"' {
		line = trimmed[1:]
		for {
			i := bytes.IndexByte(line, '"')
			if i < 0 {
				return nil, false, nil, false, errors.New("a quote is not closed on its line")
			}
			cell = append(cell, line[:i]...)
			if line = line[i+1:]; len(line) == 0 || line[0] != '"' {
				break
			}
			cell = append(cell, '"')
			line = line[1:]
		}
		quoted = true
	}
	i := at(line)
	if more = i >= 0; !more {
		i = len(line)
	}
	switch outside := bytes.TrimSpace(line[:i]); {
	case !quoted:
		cell = outside
	case len(outside) > 0:
		return nil, false, nil, false, fmt.Errorf("%q after the closing quote", shorten(outside))
	}
	if more {
		rest = line[i+1:]
	}
	return cell, quoted, rest, more, nil
}

// number reads a cell, in s; NaN and true for a word. name tells whether the
// cell is where names are.
func (t *table) number(cell []byte, name bool) (v float64, word bool, err error) {
	if isMissing(cell) {
		return math.NaN(), false, nil
	}
	if i := bytes.IndexByte(cell, ','); i >= 0 && isDecimalComma(cell, i) {
		switch {
		case t.comma == ',' && name:
			return math.NaN(), true, nil
		case t.comma == ',':
			return 0, false, fmt.Errorf("%q: a decimal comma or one between thousands? Write a point, or separate cells by semicolons", shorten(cell))
		case t.decimal == '.':
			return 0, false, fmt.Errorf("%q has a decimal comma, cells before it a point", shorten(cell))
		}
		t.decimal = ','
		cell = bytes.Replace(cell, []byte{','}, []byte{'.'}, 1)
	} else if bytes.IndexByte(cell, '.') >= 0 {
		if v, err := t.parse(cell); err != nil {
			return v, true, nil
		}
		if t.decimal == ',' {
			return 0, false, fmt.Errorf("%q has a decimal point, cells before it a comma", shorten(cell))
		}
		t.decimal = '.'
	}
	if v, err = t.parse(cell); err != nil {
		return math.NaN(), true, nil
	}
	return v, false, nil
}

// isDecimalComma tells whether a cell is a number but for its comma.
func isDecimalComma(cell []byte, comma int) bool {
	whole := append(bytes.Clone(cell[:comma]), '.')
	_, err := strconv.ParseFloat(string(append(whole, cell[comma+1:]...)), 64)
	return err == nil
}

// parse reads a number in the unit of the table as the nearest one in s: the
// unit moves the decimal point before the number is rounded.
func (t *table) parse(cell []byte) (float64, error) {
	exponent, decimal := t.unit.exponent()
	mantissa := cell
	if i := bytes.IndexAny(cell, "eExX"); i > 0 && decimal { // a hexadecimal number has its x first
		written, err := strconv.Atoi(string(cell[i+1:]))
		if err != nil || cell[i]|0x20 == 'x' {
			decimal = false
		}
		mantissa, exponent = cell[:i], exponent+written
	}
	last := byte(0)
	if len(mantissa) > 0 {
		last = mantissa[len(mantissa)-1]
	}
	if !decimal || exponent == 0 || !(last == '.' || '0' <= last && last <= '9') {
		v, err := strconv.ParseFloat(string(cell), 64)
		return v * float64(t.unit), err
	}
	t.buffer = append(append(t.buffer[:0], mantissa...), 'e')
	t.buffer = strconv.AppendInt(t.buffer, int64(exponent), 10)
	return strconv.ParseFloat(string(t.buffer), 64)
}

// isMissing tells whether a cell says that nothing was measured.
func isMissing(cell []byte) bool {
	switch len(cell) {
	case 0:
		return true
	case 1, 2, 3, 4:
		switch strings.ToLower(string(cell)) {
		case "-", "--", "nan", "-nan", "na", "n/a", "#n/a", "null", "none":
			return true
		}
	}
	return false
}

func shorten(cell []byte) []byte {
	if len(cell) > 40 {
		return append(bytes.Clone(cell[:37]), "..."...)
	}
	return cell
}
