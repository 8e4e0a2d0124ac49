package encode

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A list has a line for each pair: two hosts and numbers, of which one is the latency. The names of the columns tell which, if there are
// several. A pair may be given in one direction or in both, and several times.

var (
	timeColumn = regexp.MustCompile(`(?i)lat|rtt|delay|ping|time`)
	sizeColumn = regexp.MustCompile(`(?i)size|bytes|length`)
	hostColumn = regexp.MustCompile(`(?i)^(src|source|from|sender|dst|dest|destination|to|receiver|(host|node|rank|cpu|core)[ _-]?[0-9ab])$`)
)

// isPairs tells whether each row has two names, and the same number of numbers. Names may be numbers, of which no pair has one twice.
// Rows of three numbers are pairs if there are more than three rows, as three may be a matrix, or two whose columns are called as hosts are.
// Rows of more numbers are pairs if the columns have names and are no square. Rows of one word and one number are pairs if all words are such as h0-h1.
func isPairs(header *tableLine, t *table, rows []tableLine) bool {
	wide := rows[0].width
	isNumbered := len(rows) > 3
	isNamed := header != nil && header.width == wide
	switch {
	case isNamed && wide > 2 && len(rows) > 1 && namesPairs(t.cells(*header)):
		isNumbered = true
	case wide > 3:
		isNumbered = isNamed && len(rows) != wide && len(rows) != wide-1
	}
	isName := func(c tableCell) bool { return !c.absent && (!c.number || isNumbered && c.whole() >= 0) }
	for _, l := range rows {
		switch cells := t.cells(l); {
		case l.width != wide || wide < 2:
			return false
		case wide == 2:
			if _, _, ok := cutPair(cells[0]); !ok || cells[1].isWord() {
				return false
			}
		case !isName(cells[0]) || !isName(cells[1]) || cells[0].number != cells[1].number || cells[0].number && cells[0].text == cells[1].text:
			return false
		}
	}
	return true
}

// namesPairs tells whether the first two columns alone are called as hosts are.
func namesPairs(header []tableCell) bool {
	for i, c := range header {
		if hostColumn.MatchString(c.text) != (i < 2) {
			return false
		}
	}
	return true
}

// cutPair cuts h0-h1 or h0/h1 into its hosts, and node-0-node-1 at the middle one of its hyphens.
func cutPair(c tableCell) (from, to string, ok bool) {
	if c.number || c.absent {
		return "", "", false
	}
	if strings.Count(c.text, "/") == 1 {
		from, to, _ = strings.Cut(c.text, "/")
	} else if parts := strings.Split(c.text, "-"); len(parts)%2 == 0 {
		from, to = strings.Join(parts[:len(parts)/2], "-"), strings.Join(parts[len(parts)/2:], "-")
	}
	return from, to, from != "" && to != ""
}

// latencyColumn returns the column of latencies in a list of pairs.
func (b *block) latencyColumn() (int, error) {
	wide := b.rows[0].width
	if wide <= 3 {
		return wide - 1, nil
	}
	var times []int
	if b.header != nil && b.header.width == wide {
		names, first := b.t.cells(*b.header), b.t.cells(b.rows[0])
		for k := 2; k < wide; k++ {
			name := names[k].text
			if !rateUnit.MatchString(name) && (timeColumn.MatchString(name) || timeUnit.MatchString(name)) {
				times = append(times, k)
			}
			for _, l := range b.rows {
				if sizeColumn.MatchString(name) && b.t.cells(l)[k].text != first[k].text {
					return 0, fmt.Errorf("line %d: a list of pairs with several sizes of messages: keep the lines of one", l.number)
				}
			}
		}
	}
	if len(times) != 1 {
		return 0, fmt.Errorf("line %d: a list of pairs with %d columns of numbers: keep the one of latencies, or name that one alone latency in a first line", b.rows[0].number, wide-2)
	}
	return times[0], nil
}

// pairs makes a square of a list. Names come in the order in which they are met, numbers in theirs.
func (b *block) pairs() (*shape, error) {
	column, err := b.latencyColumn()
	if err != nil {
		return nil, err
	}
	s := &shape{named: "from a list of pairs", isList: true, used: len(b.rows)}
	if b.header != nil && b.header.width == b.rows[0].width {
		s.used++
		s.unitName = b.t.cells(*b.header)[column].text
		s.unit, _ = ParseUnit(s.unitName) // "from,to,us"
	}
	hostsOf := func(cells []tableCell) (from, to string) {
		if len(cells) > 2 {
			return cells[0].text, cells[1].text
		}
		from, to, _ = cutPair(cells[0])
		return from, to
	}
	index, times, most := map[string]int{}, map[[2]string]int{}, 0
	for _, l := range b.rows {
		from, to := hostsOf(b.t.cells(l))
		for _, name := range []string{from, to} {
			if _, known := index[name]; !known {
				index[name] = len(s.names)
				s.names = append(s.names, name)
			}
		}
		times[[2]string{from, to}]++
		most = max(most, times[[2]string{from, to}])
	}
	if !slices.ContainsFunc(s.names, func(name string) bool { return tableCell{text: name}.whole() < 0 }) {
		slices.SortFunc(s.names, func(a, b string) int { return cmp.Compare(tableCell{text: a}.whole(), tableCell{text: b}.whole()) })
		for i, name := range s.names {
			index[name] = i
		}
	}
	if s.n = len(s.names); s.n < 2 {
		return nil, fmt.Errorf("line %d: a list of pairs of one host", b.rows[0].number)
	}
	if err := maySquare(s.n, len(times)); err != nil {
		return nil, fmt.Errorf("line %d: %w", b.rows[0].number, err)
	}
	if most > 1 {
		s.warnings = append(s.warnings, "pairs are given up to "+strconv.Itoa(most)+" times: the median of each counts")
	}
	rows, t := b.rows, b.t
	s.entries = func(yield func(entry) bool) {
		for _, l := range rows {
			cells := t.cells(l)
			from, to := hostsOf(cells)
			if !yield(entry{index[from], index[to], cells[column], l.number, column + 1}) {
				return
			}
		}
	}
	return s, nil
}

// maySquare refuses a square of which pairs fill so little that it would cost far more memory than its file.
func maySquare(hosts, pairs int) error {
	if hosts > maxColumns || hosts > 1000 && pairs < hosts*hosts/100 {
		return fmt.Errorf("%d pairs of %d hosts: want at least one in a hundred, and at most %d hosts", pairs, hosts, maxColumns)
	}
	return nil
}
