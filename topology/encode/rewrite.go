package encode

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Tables come with prose around them: titles, Markdown, brackets of NumPy, several tables one below the other, a line for
// each pair of hosts. rewrite finds the table and writes it as CSV with quoted names, which the reader of matrices takes.

// A rewritten table, and how the text was understood.
type rewritten struct {
	text     []byte
	unit     Unit   // of numbers that carry theirs; 0: none
	where    string // the unit stands
	missing  int    // cells with a sign for "no answer"
	skipped  int    // lines of text around the table
	names    string // from where names are
	warnings []string
	isProse  bool // cells are separated by blanks, so that any text has cells
}

var (
	// border matches lines of Markdown and of consoles that separate a header from its rows.
	border = regexp.MustCompile(`^[\s|+:=-]*(-{3}|={3}|-{2,}:?\s*\|)[\s|+:=-]*$`)

	// arrow matches what stands between the two hosts of a pair, and before the number of a pair that has one.
	arrow     = regexp.MustCompile(`\s*(?:<?[-=]+>|[→↔])\s*`)
	afterPair = regexp.MustCompile(`\s*[:=]\s+`)

	// withUnit matches a number with its unit, or with its spread.
	withUnit = regexp.MustCompile(`^([0-9][0-9.eE+-]*)\s*(?:(?:±|\+/-)\s*[0-9.]+)?\s*([a-zA-Zµμ]*)$`)
)

// noAnswer are cells that say that nothing came back.
var noAnswer = []string{"-1", "x", "inf", "+inf", "?", "*", "timeout", "unreachable", "fail", "failed", "self", "--", "-"}

// A tableCell is a cell of a line: a number, a word, or nothing.
type tableCell struct {
	text   string
	number bool
	absent bool // empty, or a sign for no answer
	sign   bool // a sign for no answer
	unit   Unit
}

func newTableCell(text string) tableCell {
	text = strings.TrimSuffix(strings.Trim(strings.TrimSpace(text), "*`\""), ":")
	c := tableCell{text: text}
	lower := strings.ToLower(text)
	switch {
	case isMissing([]byte(text)):
		c.absent = true
	case slices.Contains(noAnswer, lower):
		c.absent, c.sign = true, true
	default:
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			c.number = true
		} else if m := withUnit.FindStringSubmatch(text); m != nil {
			unit, err := Unit(0), error(nil)
			if m[2] != "" {
				unit, err = ParseUnit(m[2])
			}
			if _, failed := strconv.ParseFloat(m[1], 64); err == nil && failed == nil {
				c.number, c.unit, c.text = true, unit, m[1]
			}
		}
	}
	return c
}

// A tableLine is a line of text with its cells.
type tableLine struct {
	number int
	cells  []tableCell
}

// isRow tells whether a line is one of numbers: at most two words, before the numbers.
func (l *tableLine) isRow() bool {
	words, numbers, absent := 0, 0, 0
	for i, c := range l.cells {
		switch {
		case c.number:
			numbers++
		case c.absent:
			absent++
		case i > 1:
			return false
		default:
			words++
		}
	}
	return numbers > 0 || words == 1 && absent > 1 || words == 2 && absent > 0 // a pair without answer
}

// mostRewritten is a file in bytes beyond which nobody writes prose around numbers.
const mostRewritten = 16 << 20

// A formError is about a text whose form is known: no other reader knows better.
type formError struct{ error }

// rewrite finds the one table of a file. The unit is of numbers without their own among others. It is an error if there are several
// tables, or none.
func rewrite(data []byte, unit Unit) (*rewritten, error) {
	if len(data) > mostRewritten {
		return nil, errors.New("the file is too long for prose around its table")
	}
	if bytes.HasPrefix(data, []byte(marketBanner)) {
		return readMarket(data)
	}
	text, matrices := unbracket(data)
	if matrices > 1 {
		return nil, formError{fmt.Errorf("line 1: %d tables are in the file, each in brackets: keep one", matrices)}
	}
	lines, skipped, comma := tableLines(text)
	type block struct{ from, to int } // of lines
	var blocks []block
	for i := 0; i < len(lines); i++ {
		if lines[i].cells == nil || !lines[i].isRow() {
			continue
		}
		b := block{i, i + 1}
		for b.to < len(lines) && lines[b.to].cells != nil && lines[b.to].isRow() {
			b.to++
		}
		if b.to-b.from > 1 {
			blocks = append(blocks, b)
		}
		i = b.to - 1
	}
	switch len(blocks) {
	case 0:
		return nil, errors.New("no table of numbers is in the file")
	case 1:
	default:
		var where []string
		for _, b := range blocks {
			where = append(where, fmt.Sprintf("%d to %d", lines[b.from].number, lines[b.to-1].number))
		}
		return nil, formError{fmt.Errorf("line %d: %d tables are in the file, in lines %s: keep one", lines[blocks[1].from].number, len(blocks), strings.Join(where, " and "))}
	}
	b := blocks[0]
	rows := lines[b.from:b.to]
	var header *tableLine
	if b.from > 0 && lines[b.from-1].cells != nil {
		header = &lines[b.from-1]
	}
	for i := range lines {
		if (i < b.from || i >= b.to) && lines[i].cells != nil && &lines[i] != header {
			skipped++
		}
	}
	r := &rewritten{skipped: skipped, isProse: comma == ' '}
	if isPairs(header, rows) {
		if err := r.writePairs(header, rows, unit); err != nil {
			return nil, formError{err}
		}
		return r, nil
	}
	return r, r.writeSquare(header, rows, unit)
}

// tableLines cuts a text into lines of cells. Blank lines have none. Comments and borders are counted.
func tableLines(data []byte) (lines []tableLine, skipped int, comma byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), "\n")
	var sample [][]byte
	for _, l := range text {
		if !isComment([]byte(l)) && strings.TrimSpace(l) != "" {
			sample = append(sample, []byte(l))
		}
	}
	comma = tableSeparator(sample)
	for i, l := range text {
		switch {
		case strings.TrimSpace(l) == "":
			lines = append(lines, tableLine{number: i + 1})
		case isComment([]byte(l)) || border.MatchString(l):
			skipped++
		default:
			if arrow.MatchString(l) {
				l = arrow.ReplaceAllLiteralString(l, string(comma))
				l = afterPair.ReplaceAllLiteralString(l, string(comma))
			}
			lines = append(lines, tableLine{i + 1, cellsOf(l, comma)})
		}
	}
	return lines, skipped, comma
}

// tableSeparator is the separator that the most lines have.
func tableSeparator(lines [][]byte) byte {
	best, most := byte(' '), 0
	for _, c := range []byte{'|', ';', '\t', ','} {
		n := 0
		for _, l := range lines {
			if bytes.IndexByte(l, c) >= 0 {
				n++
			}
		}
		if 2*n > len(lines) && n > most {
			best, most = c, n
		}
	}
	return best
}

func cellsOf(line string, comma byte) []tableCell {
	var texts []string
	switch comma {
	case ' ':
		texts = strings.Fields(line)
	case ',', ';', '\t':
		if !strings.ContainsRune(line, '"') {
			texts = strings.Split(line, string(comma))
			break
		}
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.FieldsPerRecord = rune(comma), -1
		var err error
		if texts, err = r.Read(); err != nil {
			texts = []string{line}
		}
	case '|':
		texts = strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	}
	var cells []tableCell
	for _, t := range texts {
		c := newTableCell(t)
		if n := len(cells); comma == ' ' && n > 0 && cells[n-1].number && cells[n-1].unit == 0 && !c.number && !c.absent {
			if unit, err := ParseUnit(c.text); err == nil { // "0.11 ms"
				cells[n-1].unit = unit
				continue
			}
		}
		cells = append(cells, c)
	}
	return cells
}

// writeSquare writes a square with names that stand above it, beside it, or both.
func (r *rewritten) writeSquare(header *tableLine, rows []tableLine, unit Unit) error {
	n, wide := len(rows), len(rows[0].cells)
	for _, l := range rows {
		if len(l.cells) != wide {
			return fmt.Errorf("line %d: %d columns, where line %d has %d", l.number, len(l.cells), rows[0].number, wide)
		}
	}
	var above, beside []string
	switch {
	case wide == n+1 && n > 1: // names beside, or numbers of hosts
		words := 0
		for _, l := range rows {
			beside = append(beside, l.cells[0].text)
			if !l.cells[0].number && !l.cells[0].absent {
				words++
			}
		}
		if words > 0 && words < n {
			return fmt.Errorf("line %d: names and numbers in the first column", rows[0].number)
		}
		if header != nil && (len(header.cells) == n || len(header.cells) == n+1) {
			for _, c := range header.cells[len(header.cells)-n:] {
				above = append(above, c.text)
			}
		}
		if words == 0 && !slices.Equal(above, beside) {
			return fmt.Errorf("line %d: %d columns for %d lines: want a square", rows[0].number, wide, n)
		}
	case wide == n && header != nil && len(header.cells) == n:
		for _, c := range header.cells {
			above = append(above, c.text)
		}
	case wide == n && numbersHosts(rows):
		for _, c := range rows[0].cells[1:] {
			above = append(above, c.text)
		}
		beside = above
		rows = rows[1:]
		n--
	case wide != n:
		return fmt.Errorf("line %d: %d columns for %d lines: want a square", rows[0].number, wide, n)
	}
	if above == nil && header != nil {
		if !r.isProse {
			return fmt.Errorf("line %d: %d names for %d columns", header.number, len(header.cells), n)
		}
		r.skipped++
	}
	if above != nil && beside != nil && !slices.Equal(above, beside) {
		return fmt.Errorf("line %d: the names above, %s, are not those beside, %s", rows[0].number, strings.Join(above[:min(3, n)], " "), strings.Join(beside[:min(3, n)], " "))
	}
	names := above
	switch {
	case beside != nil:
		names, r.names = beside, "from the first column"
	case above != nil:
		r.names = "from the first line"
	}
	grid := make([][]*tableCell, n)
	var numbers []*tableCell
	for i := range grid {
		cells := rows[i].cells
		for k := range n {
			grid[i] = append(grid[i], &cells[len(cells)-n+k])
			if i != k {
				numbers = append(numbers, grid[i][k])
			}
		}
	}
	if err := r.unify(numbers, unit); err != nil {
		return unitError{fmt.Errorf("line %d: %w", rows[0].number, err)}
	}
	return r.write(names, grid)
}

// numbersHosts tells whether the first line and the first column of a table are numbers of hosts: the same whole numbers
// across and down, ascending, with nothing or a word in the corner.
func numbersHosts(rows []tableLine) bool {
	if c := rows[0].cells[0]; c.number || len(rows) < numberedRows || len(rows[0].cells) != len(rows) {
		return false
	}
	last := -1
	for i := 1; i < len(rows); i++ {
		if len(rows[i].cells) == 0 {
			return false
		}
		across, down := rows[0].cells[i], rows[i].cells[0]
		x, err := strconv.Atoi(across.text)
		if err != nil || across.text != down.text || x <= last {
			return false
		}
		last = x
	}
	return true
}

// unify writes all numbers in one unit, which is r.unit, if any carries its own. The unit given is of the others.
func (r *rewritten) unify(cells []*tableCell, given Unit) error {
	bare, mixed := false, false
	for _, c := range cells {
		switch {
		case !c.number:
		case c.unit == 0:
			x, _ := strconv.ParseFloat(c.text, 64)
			bare = bare || x != 0
		default:
			mixed = mixed || r.unit != 0 && c.unit != r.unit
			r.unit, r.where = c.unit, "cells"
		}
	}
	switch {
	case r.unit == 0 || !mixed && !bare:
		return nil
	case bare && given == 0:
		return errors.New("some numbers carry their unit and others do not: want --unit for these")
	case given != 0:
		r.unit = given
	}
	for _, c := range cells {
		if c.number && c.unit != 0 && c.unit != r.unit {
			x, _ := strconv.ParseFloat(c.text, 64)
			c.text = strconv.FormatFloat(x*float64(c.unit)/float64(r.unit), 'g', 15, 64)
		}
	}
	return nil
}

// write writes the table as CSV with quoted names.
func (r *rewritten) write(names []string, grid [][]*tableCell) error {
	for i, row := range grid {
		for k, c := range row {
			if i == k && c != nil && !c.number && !c.absent {
				return fmt.Errorf("%q is not a number", c.text)
			}
			if c == nil || i == k {
				continue
			}
			if c.sign || c.absent {
				r.missing++
			}
			if !c.number && !c.absent {
				return fmt.Errorf("%q is not a number", c.text)
			}
		}
	}
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	var out strings.Builder
	if names != nil {
		out.WriteString(`"host"`)
		for _, name := range names {
			out.WriteString("," + quote(name))
		}
		out.WriteByte('\n')
	}
	for i, row := range grid {
		if names != nil {
			out.WriteString(quote(names[i]) + ",")
		}
		for k, c := range row {
			if k > 0 {
				out.WriteByte(',')
			}
			if c != nil && c.number {
				out.WriteString(c.text)
			}
		}
		out.WriteByte('\n')
	}
	r.text = []byte(out.String())
	return nil
}
