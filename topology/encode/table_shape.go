package encode

import (
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// What the rows of a table hold, by the first rule that applies:
//
//   - two names and a number in each: a list of pairs;
//   - as many cells in each as there are rows: a square, or one below a line and beside a column of numbers of hosts;
//   - one cell more: a square beside a column of names, or one whose rows end in a separator;
//   - one cell less: a square below a line of numbers of hosts;
//   - one cell more, or less, than the row before: a triangle.
//
// The line above the rows holds names if it has as many cells as there are hosts. Everything else is text.

// A shape says where the cells of a table belong.
type shape struct {
	n        int
	names    []string // nil: none, or numbers that count from 0
	named    string   // where the names stand; "": nowhere
	isList   bool     // of pairs: each may be there in one direction alone, and several times
	used     int      // lines
	warnings []string
	entries  iter.Seq[entry]
}

// An entry is the number from one host to another.
type entry struct {
	from, to     int
	cell         tableCell
	line, column int
}

// understand finds the rows of a table, and what they hold.
func (t *table) understand() (*shape, error) {
	switch {
	case t.isOwn:
		return t.own()
	case t.market != "":
		return t.readMarket()
	}
	from, to, err := t.rows()
	if err != nil {
		return nil, t.blame(err)
	}
	b := block{t: t, rows: t.lines[from:to], afterBlank: from > 0 && t.lines[from-1].width == 0}
	if from > 0 && !b.afterBlank {
		b.header = &t.lines[from-1]
		if t.broken != nil && len(t.cells(*b.header)) == 1 && strings.Contains(b.header.text, `"`) && b.header.head.text == strings.TrimSpace(b.header.text) {
			return nil, t.broken
		}
	} else if t.comma != ' ' && from > 1 && t.lines[from-2].width > 0 {
		b.far = &t.lines[from-2]
	}
	if columns, err := b.pairColumns(); err != nil {
		return nil, err
	} else if columns != nil {
		return b.pairs(columns)
	}
	// In the triangles of PHYLIP the host without numbers stands alone.
	isWide := func(at, width int) bool {
		return 0 <= at && at < len(t.lines) && t.lines[at].width == width && t.lines[at].head.isWord()
	}
	if isWide(from-1, 1) && isWide(from, 2) && (to-from == 1 || b.rows[1].width == 3) {
		b.rows, b.header = t.lines[from-1:to], nil
	} else if isWide(to, 1) && isWide(to-1, 2) && to-from > 1 && b.rows[0].width > 2 {
		b.rows = t.lines[from : to+1]
	}
	s, err := b.fit()
	if err != nil && !slices.ContainsFunc(b.rows, func(l tableLine) bool { return !l.endsEmpty || l.width < 2 }) {
		b.trailing = 1 // every line ends in a separator
		if again, failed := b.fit(); failed == nil {
			return again, nil
		}
	}
	switch {
	case err != nil:
		return nil, t.blame(err)
	case to-from == 1 && (t.skipped(s) > 0 || s.n == 1 && !b.rows[0].head.number):
		return nil, fmt.Errorf("line %d: one line of numbers and text around it: want a square matrix", b.rows[0].number)
	}
	return s, nil
}

// own reads what WriteMatrix has written: a line of names, if there is one line more than columns, and a square. Names are as they stand.
func (t *table) own() (*shape, error) {
	lines := slices.DeleteFunc(t.lines, func(l tableLine) bool { return l.width == 0 })
	if len(lines) == 0 {
		return nil, errors.New("line 1: the file is empty")
	}
	s := &shape{n: lines[len(lines)-1].width, used: len(lines)}
	b := block{t: t, rows: lines}
	if len(lines) == s.n+1 {
		var err error
		if s.names, err = csv.NewReader(strings.NewReader(lines[0].text)).Read(); err != nil || len(s.names) != s.n {
			return nil, fmt.Errorf("line %d: want %s", lines[0].number, words.Count(s.n, "name"))
		}
		s.named, b.rows = "from the first line", lines[1:]
	}
	for _, l := range b.rows {
		if l.width != s.n || len(b.rows) != s.n {
			return nil, fmt.Errorf("line %d: %s of %s: want a square matrix", l.number, words.Count(len(b.rows), "line"), words.Count(l.width, "column"))
		}
	}
	s.entries = b.entries(func(i int) (from, to int) { return i, 0 })
	return s, nil
}

// errSeveral ends the error of a file with more than one table.
var errSeveral = errors.New("keep one")

// rows finds the one run of rows that is a table: the only one of two rows and more, or the only row.
func (t *table) rows() (from, to int, err error) {
	type run struct{ from, to int }
	var runs []run
	for i, l := range t.lines {
		last := len(runs) - 1
		switch {
		case !l.isRow:
		case last >= 0 && runs[last].to == i:
			runs[last].to++
		case last >= 0 && runs[last].to == i-1 && t.lines[i-1].width == 0 && t.lines[i-2].width == l.width && l.width > i-1-runs[last].from:
			// Behind a square another table may follow.
			return 0, 0, fmt.Errorf("line %d: empty line inside the matrix", t.lines[i-1].number)
		default:
			runs = append(runs, run{i, i + 1})
		}
	}
	if long := slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.to-r.from == 1 }); len(long) > 0 {
		runs = long
	}
	switch len(runs) {
	case 0:
		return 0, 0, errors.New("line 1: the file is empty")
	case 1:
		return runs[0].from, runs[0].to, nil
	}
	var where []string
	for _, r := range runs {
		where = append(where, fmt.Sprintf("%d to %d", t.lines[r.from].number, t.lines[r.to-1].number))
	}
	return 0, 0, fmt.Errorf("line %d: %d tables are in the file, in lines %s: %w", t.lines[runs[1].from].number, len(runs), strings.Join(where, " and "), errSeveral)
}

// blame returns a better error than that of the shape: of a broken quote, or of a word among numbers.
func (t *table) blame(err error) error {
	if t.broken != nil {
		return t.broken
	}
	least := 1 // rows of the same width that stand above and below the line of the word
	if errors.Is(err, errSeveral) {
		least = 2 // a title may stand above one of them
	} else if !slices.ContainsFunc(t.lines, func(l tableLine) bool { return l.isRow }) {
		least = 0
	}
	for i, l := range t.lines {
		beside := 0
		for _, k := range []int{i - 1, i + 1} {
			if 0 <= k && k < len(t.lines) && t.lines[k].isRow && t.lines[k].width == l.width {
				beside++
			}
		}
		if l.isRow || beside < least {
			continue
		}
		cells := t.cells(l)
		words, first := 0, -1
		for k, c := range cells {
			if c.isWord() {
				words++
				if first < 0 || first == 0 && len(cells) > 2 {
					first = k
				}
			}
		}
		if words > 0 && (least == 0 || 2*words <= len(cells)) {
			return fmt.Errorf("line %d, column %d: %w", l.number, first+1, t.notANumber(cells[first].text))
		}
	}
	return err
}

func (t *table) notANumber(text string) error {
	return fmt.Errorf("%q is not a number (cells are separated by %s)", shorten(text), t.separatorName())
}
