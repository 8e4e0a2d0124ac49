package encode

import (
	"fmt"
	"math"
	"strconv"
)

// A shape says which cells of a table are latencies.
type shape struct {
	n        int
	names    []string
	header   bool // the first row holds names
	index    int  // columns of names: 0 or 1
	trailing int  // empty columns at the end: 0 or 1
	form     form
	warnings []string
}

// A form is the part of the matrix that the rows hold.
type form int

const (
	full        form = iota
	lower            // row i has columns 0 to i or i-1
	strictLower      // row i has columns 0 to i; it is that of host i+1, host 0 has none
	upper            // row i has columns i to n-1
	strictUpper      // row i has columns i+1 to n-1; that of the last host may be left out
)

// at returns the host from which row i of the body has its latencies, and that
// to which its first cell has.
func (s *shape) at(i int) (from, to int) {
	switch s.form {
	case strictLower:
		return i + 1, 0
	case upper:
		return i, i
	case strictUpper:
		return i, i + 1
	}
	return i, 0
}

// shape finds out which cells are names and whether the others make a square
// matrix. Where every line ends in a separator the last column may be none.
func (t *table) shape() (*shape, error) {
	s, err := t.shapeWithout(0)
	if err == nil {
		return s, nil
	}
	for _, r := range t.rows {
		if !r.empty || r.end-r.start < 2 {
			return nil, err
		}
	}
	if s, failed := t.shapeWithout(1); failed == nil {
		return s, nil
	}
	return nil, err
}

func (t *table) shapeWithout(trailing int) (*shape, error) {
	s := &shape{trailing: trailing}
	t.findNames(s)
	body := t.body(s)
	if t.hole != 0 && len(t.rows) > 1 && !s.header {
		return nil, fmt.Errorf("line %d: empty line inside the matrix", t.hole)
	}
	if len(body) == 0 {
		return nil, fmt.Errorf("line %d: the file ends after the names", t.end)
	}
	if err := t.findForm(s, body); err != nil {
		return nil, err
	}
	return s, t.takeNames(s, body)
}

func (t *table) body(s *shape) []row {
	if s.header {
		return t.rows[1:]
	}
	return t.rows
}

// width is the number of latencies in a row.
func (s *shape) width(r row) int { return r.end - r.start - s.index - s.trailing }

// numberedRows is the least number of rows in which 0, 1, 2 or 1, 2, 3 in a line and a column are
// numbers of hosts rather than latencies that happen to rise: three rows of a matrix and one above.
const numberedRows = 4

// findNames tells whether there is a line of names and a column of names.
func (t *table) findNames(s *shape) {
	rows := len(t.rows)
	first := t.first[:max(len(t.first)-s.trailing, 1)]
	corner, right, below := first[0], first[1:], heads(t.rows[1:])
	named, bare := 0, 0
	for _, l := range right {
		switch {
		case l.named(t.quoted):
			named++
		case !isMissing([]byte(l.text)):
			bare++
		}
	}
	words := 0
	for _, l := range below {
		if l.named(t.quoted) {
			words++
		}
	}
	bordered := t.square(s, 1, rows-1) // a square within a line and a column
	bareCorner := !corner.named(t.quoted) && !isMissing([]byte(corner.text))
	switch {
	case len(first) == 1 && rows == 2 && corner.named(t.quoted),
		named > 0 && bare == 0 && !bareCorner && (rows != 2 || words > 0):
		s.header = true
	case t.own: // quotes all names that may be numbers
	case bordered && corner.word && (words > 0 || countsUp(below)):
		s.header = true // "host, 0, 1, 2"
	case bordered && corner.text == "" && counts(right, 0) && (words > 0 || counts(below, 0) && rows >= numberedRows):
		s.header = true // ", 0, 1, 2"
	case len(first) == rows-1 && t.square(s, 0, rows-1) && countsUp(first):
		s.header = true // "0, 1, 2" above a square
	}
	body := rows
	if s.header {
		body--
	}
	switch within := t.square(s, 1, body); {
	case words > 0 && !t.square(s, 0, body):
		s.index = 1
	case within && (s.header || countsUp(heads(t.rows))):
		s.index = 1
	}
	if !t.own && !s.header && s.index == 0 && corner.text == "" && counts(right, 1) && counts(below, 1) && rows >= numberedRows {
		s.warnings = append(s.warnings, "the first line and the first column count from 1 and were taken for latencies: if they are numbers of hosts, write a name into the corner")
	}
}

// square tells whether the last rows are as many as their cells, less index.
func (t *table) square(s *shape, index, rows int) bool {
	for _, r := range t.rows[len(t.rows)-rows:] {
		if r.end-r.start-s.trailing-index != rows {
			return false
		}
	}
	return rows > 0
}

// counts tells whether labels are the whole numbers from the given one on.
func counts(labels []label, from int) bool {
	for i, l := range labels {
		if l.text != strconv.Itoa(from+i) {
			return false
		}
	}
	return len(labels) > 1
}

func countsUp(labels []label) bool { return counts(labels, 0) || counts(labels, 1) }

func heads(rows []row) []label {
	var all []label
	for _, r := range rows {
		all = append(all, r.head)
	}
	return all
}

// findForm tells which part of the matrix the rows hold.
func (t *table) findForm(s *shape, body []row) error {
	n := len(body)
	first, last := s.width(body[0]), s.width(body[n-1])
	step := 0
	if longest := max(first, last); longest > maxColumns {
		return fmt.Errorf("line %d: %d columns: want at most %d", body[0].line, longest, maxColumns)
	}
	switch {
	case first == 0 && last == n-1 && n > 1:
		step = 1
	case first == n-1 && last == 0 && n > 1:
		step = -1
	case first == 1 && last == n && n > 1:
		step = 1
	case first == n && last == 1 && n > 1:
		step = -1
	}
	// Where names are, they count the hosts.
	hosts := 0
	if s.header {
		hosts = len(t.first) - s.trailing
		if s.index == 1 && (t.first[0].text == "" || hosts == n+1 || hosts == n+2) && !(hosts == n && first == n) {
			hosts-- // the corner
		}
	}
	for i, r := range body {
		if want := first + i*step; s.width(r) != want {
			return fmt.Errorf("line %d: %d columns, separated by %s, where line %d has %d",
				r.line, r.end-r.start, t.separatorName(), body[0].line, body[0].end-body[0].start)
		}
	}
	if step == 0 {
		s.n, s.form = first, full
		switch {
		case first < n:
			return fmt.Errorf("line %d: more lines than the %d columns, separated by %s: want a square matrix", body[first].line, first, t.separatorName())
		case first > n:
			return fmt.Errorf("line %d: the file ends after %d lines of %d columns, separated by %s: want a square matrix", t.end, n, first, t.separatorName())
		case s.header && hosts != first:
			return fmt.Errorf("line %d: %d names for %d columns, separated by %s", t.rows[0].line, hosts, first, t.separatorName())
		}
		return nil
	}
	if first == 0 || last == 0 { // names alone, for the host that has no latencies left
		s.n, s.form = n, lower
		if step < 0 {
			s.form = strictUpper
		}
		if hosts != 0 && hosts != n {
			return fmt.Errorf("line %d: %d names for a triangle of %d lines", t.rows[0].line, hosts, n)
		}
		return nil
	}
	// A triangle has the diagonal if all of it is 0 or empty.
	diagonal, other := 0, 0
	for _, r := range body {
		at := r.end - 1 - s.trailing
		if step < 0 {
			at = r.start + s.index
		}
		if v := t.cells[at]; v == 0 || math.IsNaN(v) {
			diagonal++
		} else {
			other++
		}
	}
	s.n, s.form = n, lower
	strict := strictLower
	if step < 0 {
		s.form, strict = upper, strictUpper
	}
	switch {
	case hosts == n:
	case hosts == n+1, hosts == 0 && other > 0 && step > 0 && (t.lead || t.hole != 0):
		s.n, s.form = n+1, strict
	case hosts != 0:
		return fmt.Errorf("line %d: %d names for a triangle of %d lines", t.rows[0].line, hosts, n)
	case other > 0:
		return fmt.Errorf("line %d: a triangle of %d lines: with its diagonal or without? Write 0 there, or the other triangle", body[0].line, n)
	}
	if s.n > maxColumns {
		return fmt.Errorf("line %d: %d hosts: want at most %d", body[0].line, s.n, maxColumns)
	}
	return nil
}

// takeNames collects the names of the first row, or else of the first column.
// Numbers that count from 0 are no names.
func (t *table) takeNames(s *shape, body []row) error {
	var across []label
	if s.header {
		across = t.first[:len(t.first)-s.trailing]
		across = across[len(across)-s.n:]
	}
	down := heads(body)
	if s.index == 0 {
		down = nil
	}
	if across == nil || countsUp(across) && len(down) == s.n && !countsUp(down) {
		across, down = down, nil
	}
	for i, l := range down {
		from, _ := s.at(i)
		if !countsUp(down) && l.text != across[from].text {
			return fmt.Errorf("line %d, column 1: the row of %q, where column %d is that of %q",
				body[i].line, shorten([]byte(l.text)), from+1+s.index, shorten([]byte(across[from].text)))
		}
	}
	labels := across
	if len(labels) != s.n || counts(labels, 0) && !labels[0].quoted {
		return nil
	}
	for _, l := range labels {
		s.names = append(s.names, l.text)
	}
	return nil
}
