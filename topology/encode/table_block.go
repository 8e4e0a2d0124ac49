package encode

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// A block is the rows of a table, with the line above them. It is a square or a triangle, once the names above and beside the numbers are
// taken away:
//
//   - each row has as many numbers as there are rows: a square;
//   - each row has one number more, or less, than the row before: a triangle. It has the diagonal if all of that is 0 or empty.
type block struct {
	t          *table
	rows       []tableLine
	header     *tableLine // directly above; nil: none
	far        *tableLine // above a blank line; nil: none
	afterBlank bool
	above      []string // numbers of hosts in the first row, which then is none of rows
	index      int      // columns of names: 0 or 1
	trailing   int      // empty columns at the end: 0 or 1
}

// entries are the cells of the rows. Place returns the host from which row i has its latencies, and that to which its first cell has.
func (b *block) entries(place func(i int) (from, to int)) iter.Seq[entry] {
	rows, index, trailing := b.rows, b.index, b.trailing
	return func(yield func(entry) bool) {
		var cells []tableCell // of one row after the other
		for i, l := range rows {
			from, to := place(i)
			cells, _ = cutCells(cells[:0], l.text, b.t.comma)
			for k, c := range cells[index : len(cells)-trailing] {
				if !yield(entry{from, to + k, c, l.number, index + k + 1}) {
					return
				}
			}
		}
	}
}

// fit finds the square or the triangle.
func (b block) fit() (*shape, error) {
	warnings, err := b.takeLabels()
	if err != nil {
		return nil, err
	}
	n, separator := len(b.rows), b.t.separatorName()
	numbers := func(i int) int { return b.rows[i].width - b.index - b.trailing }
	first, last, step := numbers(0), numbers(n-1), 0
	switch {
	case first == last:
	case first == 0 && last == n-1, first == 1 && last == n:
		step = 1
	case first == n-1 && last == 0, first == n && last == 1:
		step = -1
	}
	for i, l := range b.rows {
		if numbers(i) != first+i*step {
			return nil, fmt.Errorf("line %d: %s, separated by %s, where line %d has %d", l.number, words.Count(l.width, "column"), separator, b.rows[0].number, b.rows[0].width)
		}
	}
	switch {
	case first > maxColumns:
		return nil, fmt.Errorf("line %d: %d columns: want at most %d", b.rows[0].number, first, maxColumns)
	case step == 0 && first < n:
		return nil, fmt.Errorf("line %d: more lines than the %s, separated by %s: want a square matrix", b.rows[first].number, words.Count(first, "column"), separator)
	case step == 0 && first > n:
		return nil, fmt.Errorf("line %d: the file ends after %s of %s, separated by %s: want a square matrix", b.t.end, words.Count(n, "line"), words.Count(first, "column"), separator)
	}
	above, err := b.namesAbove(step != 0)
	if err != nil {
		return nil, err
	}
	s := &shape{n: n, used: n, warnings: warnings}
	hasEmpty := min(first, last) == 0 // the host without numbers has a line
	hasDiagonal := step == 0 || hasEmpty || b.areBlank(b.rows, func(i int) int {
		if step > 0 {
			return b.index + numbers(i) - 1
		}
		return b.index
	})
	switch {
	case hasEmpty, len(above) == n:
	case len(above) == n+1, !hasDiagonal && step > 0 && b.afterBlank:
		s.n++
	case !hasDiagonal:
		return nil, fmt.Errorf("line %d: a triangle of %s: with its diagonal or without? Write 0 there, or the other triangle", b.rows[0].number, words.Count(n, "line"))
	}
	if s.n > maxColumns {
		return nil, fmt.Errorf("line %d: %d hosts: want at most %d", b.rows[0].number, s.n, maxColumns)
	}
	if above != nil {
		s.used++
	}
	lineless := 0 // hosts before the one of the first row
	if step > 0 {
		lineless = s.n - n
	}
	s.entries = b.entries(func(i int) (from, to int) {
		if step < 0 {
			return i, i + s.n - first
		}
		return i + lineless, 0
	})
	return s, b.setNames(s, above, lineless)
}

// takeLabels takes the first row for the line of names if it holds numbers of hosts, and the first column for names.
func (b *block) takeLabels() (warnings []string, err error) {
	n, wide := len(b.rows), b.rows[0].width-b.trailing
	first, rest := b.t.cells(b.rows[0])[:wide], b.rows[1:]
	corner := first[:max(wide-len(rest), 0)]
	above := first[len(corner):]
	hasWord := slices.ContainsFunc(corner, tableCell.isWord)
	isSame := areNumbersOfHosts(above) && slices.Equal(textsOf(above), textsOf(headsOf(rest)))
	isRagged := slices.ContainsFunc(b.rows, func(l tableLine) bool { return l.width != b.rows[0].width })
	isLabelled, isIndex := false, false
	switch {
	case isRagged: // with words in the corner, two rows are enough
		isLabelled = isSame && !slices.ContainsFunc(corner, func(c tableCell) bool { return c.number }) && (len(rest) >= leastLabelled-1 || hasWord && len(rest) > 1)
		isIndex = isLabelled || !slices.ContainsFunc(headsOf(b.rows), func(c tableCell) bool { return !c.isWord() })
	case wide == n+1 && n > 1:
		isIndex = b.hasColumn()
	case wide == n-1 && wide > 1:
		isLabelled = areNumbersOfHosts(first) && (wide > 2 || b.areBlank(rest, func(i int) int { return i }))
	case wide == n && n > 1:
		isLabelled, warnings, err = b.isLabelled(corner[0], above, isSame)
		isIndex = isLabelled
	}
	if isLabelled {
		b.above, b.rows = textsOf(above), rest
	}
	if isIndex {
		b.index = 1
	}
	return warnings, err
}

// leastLabelled is how many rows a table has of which the first may be numbers of hosts: any three numbers may differ.
const leastLabelled = 4

// isLabelled tells whether the first line and the first column of a square are numbers of hosts, which look like latencies. It refuses
// what has two meanings, and warns of what hardly has.
//
// They are numbers of hosts if a word stands in the corner, and the first column has words or the whole numbers of the first line. None of
// these may be there twice. Without a word in the corner these must be the same, and one of:
//
//   - the corner alone of the diagonal is empty;
//   - they count from 0, and there are at least three hosts;
//   - other numbers carry a unit;
//   - as latencies they would break the triangle inequality for a quarter of the pairs.
func (b *block) isLabelled(corner tableCell, above []tableCell, isSame bool) (_ bool, warnings []string, err error) {
	n := len(b.rows)
	isWord := func(l tableLine) bool { return !l.head.number && l.head.text != "" }
	pairs := ""
	for _, l := range b.rows[:min(n, 3)] {
		cells := b.t.cells(l)
		pairs += cells[0].text + "-" + cells[1].text + " "
	}
	switch {
	case corner.isWord():
		return isSame || !slices.ContainsFunc(b.rows[1:], func(l tableLine) bool { return !isWord(l) }), nil, nil
	case n == 3 && b.header == nil && pairs == "0-1 0-2 1-2 ":
		return false, nil, errors.New("line 1: three lines of three numbers: a matrix, or a list of the pairs 0-1, 0-2 and 1-2? Names of the hosts tell")
	case !isSame || n < 3 || b.header != nil && b.header.width == n:
		return false, nil, nil
	}
	value := func(c tableCell) float64 {
		x, _ := strconv.ParseFloat(strings.Replace(c.text, ",", ".", 1), 64)
		return x
	}
	hasFraction, hasUnit, isCorner := false, false, corner.absent
	measured, broken := 0, 0
	for i, l := range b.rows[1:] {
		for k, c := range b.t.cells(l)[1:n] {
			switch {
			case i == k:
				isCorner = isCorner && !c.absent
			case c.number:
				x, from, to := value(c), value(above[i]), value(above[k])
				hasFraction = hasFraction || c.whole() < 0 && x > 0
				hasUnit = hasUnit || c.unit != 0
				measured++
				if x > from+to || from > x+to || to > x+from {
					broken++
				}
			}
		}
	}
	switch {
	case corner.absent && (isCorner || hasUnit || above[0].text == "0" && n >= leastLabelled || 4*broken > measured):
		return true, nil, nil
	case n < leastLabelled:
	case corner.absent:
		warnings = append(warnings, "the first line and the first column are the same whole numbers and were taken for latencies: if they are numbers of hosts, write a name into the corner")
	case hasFraction:
		return false, nil, errors.New("line 1: the first line and the first column are the same whole numbers: of hosts, or latencies? A word in the corner makes them numbers of hosts, names of all hosts latencies")
	}
	return false, warnings, nil
}

// hasColumn tells whether the first column of a table that is one column too wide holds names: words; or any, below a line of names;
// or numbers of hosts beside a diagonal of nothing.
func (b *block) hasColumn() bool {
	n, heads := len(b.rows), headsOf(b.rows)
	switch {
	case slices.ContainsFunc(heads, func(c tableCell) bool { return c.text == "" }):
		return false
	case b.header != nil && (b.header.width == n || b.header.width == n+1):
		return true
	case !slices.ContainsFunc(heads, func(c tableCell) bool { return c.number }):
		return true
	}
	return areNumbersOfHosts(heads) && b.areBlank(b.rows, func(i int) int { return i + 1 })
}

// areBlank tells whether rows hold nothing in a column of each.
func (b *block) areBlank(rows []tableLine, column func(i int) int) bool {
	for i, l := range rows {
		if !isBlankCell(b.t.cells(l)[column(i)]) {
			return false
		}
	}
	return true
}

// isBlankCell tells whether a cell is as those of a diagonal: absent, or 0.
func isBlankCell(c tableCell) bool { return c.absent || strings.Trim(c.text, "0.,") == "" }

// areNumbersOfHosts tells whether cells are whole numbers, none of them twice.
func areNumbersOfHosts(cells []tableCell) bool {
	seen := make(map[int]bool, len(cells))
	for _, c := range cells {
		x := c.whole()
		if x < 0 || seen[x] {
			return false
		}
		seen[x] = true
	}
	return len(cells) > 0
}

// headsOf are the cells of the first column.
func headsOf(rows []tableLine) (heads []tableCell) {
	for _, l := range rows {
		heads = append(heads, l.head)
	}
	return heads
}

func textsOf(cells []tableCell) (texts []string) {
	for _, c := range cells {
		texts = append(texts, c.text)
	}
	return texts
}

// namesAbove returns the names above the numbers, one for each row; in a triangle without its diagonal one more. The line above has a
// corner if names stand beside the rows. Lines of other lengths are an error, unless they may be prose.
func (b *block) namesAbove(isTriangle bool) ([]string, error) {
	n, header := len(b.rows), b.header
	if header == nil && isTriangle {
		header = b.far
	}
	if b.above != nil || header == nil {
		return b.above, nil
	}
	cells := b.t.cells(*header)
	if b.trailing > 0 && header.endsEmpty {
		cells = cells[:len(cells)-1]
	}
	if b.index == 1 && len(cells) > 0 && (len(cells) > n || cells[0].text == "") {
		cells = cells[1:]
	}
	switch {
	case len(cells) == n, isTriangle && len(cells) == n+1:
		return textsOf(cells), nil
	case len(cells) < 2 || b.t.comma == ' ':
		return nil, nil
	}
	return nil, fmt.Errorf("line %d: %s for %s, separated by %s", header.number, words.Count(len(cells), "name"), words.Count(n, "column"), b.t.separatorName())
}

// setNames compares the names above with those beside the rows, of which the first is that of host from. Numbers that count from 0 are no
// names, and numbers that count give way to words.
func (b *block) setNames(s *shape, above []string, from int) error {
	counts := func(names []string) bool { return countsFrom(names, 0) || countsFrom(names, 1) }
	var beside []string
	if b.index == 1 {
		beside = textsOf(headsOf(b.rows))
	}
	s.names, s.named = above, "from the first line"
	if len(beside) == s.n {
		s.named = "from the first column"
		if above == nil || counts(above) {
			s.names = beside
		}
	}
	if s.names == nil || countsFrom(s.names, 0) {
		s.names, s.named = nil, ""
	}
	if above == nil || counts(above) || counts(beside) {
		return nil
	}
	for i, name := range beside {
		switch {
		case name == above[from+i]:
		case b.above == nil && b.header != nil && b.header.head.isWord() && b.rows[i].head.number:
			return fmt.Errorf("line %d: %s above %s of numbers: want a line for each name", b.header.number, words.Count(b.header.width, "name"), words.Count(len(b.rows), "line"))
		default:
			return fmt.Errorf("line %d, column 1: the row of %q, where column %d is that of %q", b.rows[i].number, shorten(name), from+i+2, shorten(above[from+i]))
		}
	}
	return nil
}

// countsFrom tells whether names are the whole numbers from the given one on.
func countsFrom(names []string, from int) bool {
	for i, name := range names {
		if name != strconv.Itoa(from+i) {
			return false
		}
	}
	return len(names) > 1
}
