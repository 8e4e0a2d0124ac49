package encode

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// A list has a line for each pair: two hosts and numbers, of which one is the latency. The names of the columns tell which, if there are
// several. A pair may be given in one direction or in both, and several times. Hosts stand in the first two columns, or in those that are
// called as the two ends of a message are; the columns between may then hold anything.

var (
	latencyColumn = regexp.MustCompile(`(?i)latenc|lat([\W_\d]|$)|rtt|delay|ping`)
	timeColumn    = regexp.MustCompile(`(?i)time([^s]|$)`)
	sizeColumn    = regexp.MustCompile(`(?i)size|bytes|length`)
	endColumn     = regexp.MustCompile(`(?i)^(src|source|from|sender|dst|dest|destination|to|receiver|target)([ _-]?(host|node|rank|name|id|ip))?$`)
	hostColumn    = regexp.MustCompile(`(?i)^(host|node|rank|cpu|core)[ _-]?[0-9ab]$`)
)

// endColumns finds in a line of names the two columns of the ends of messages, and the one of latencies.
func endColumns(names []tableCell) (columns []int) {
	for k, c := range names {
		if endColumn.MatchString(c.text) {
			columns = append(columns, k)
		}
	}
	if latency, times := latencyAmong(names); len(columns) == 2 && times == 1 {
		return append(columns, latency)
	}
	return nil
}

// latencyAmong finds the last column that is called as latencies are, or, without any, as times are, and how many there are.
func latencyAmong(names []tableCell) (column, count int) {
	for _, isCalled := range []func(string) bool{latencyColumn.MatchString, func(name string) bool { return timeColumn.MatchString(name) || timeUnit.MatchString(name) }} {
		for k, c := range names {
			if isCalled(c.text) && !rateUnit.MatchString(c.text) {
				column, count = k, count+1
			}
		}
		if count > 0 {
			break
		}
	}
	return column, count
}

// namesEnds tells whether a line is the one whose columns are t.ends.
func (t *table) namesEnds(l *tableLine) bool { return t.ends != nil && l == &t.lines[t.endsLine] }

// isPairRow tells whether a line is one of a list of pairs whose columns have names.
func (t *table) isPairRow(cells []tableCell) bool {
	return len(t.ends) > 0 && len(cells) == t.endsWidth && !cells[t.ends[0]].absent && !cells[t.ends[1]].absent && !cells[t.ends[2]].isWord()
}

// isPairs tells whether each row has two names, and the same number of numbers. Names may be numbers, of which no pair has one twice.
// Rows of three numbers are pairs if an arrow or brackets tell the hosts, or the columns are called as hosts are. Without these, three rows may be
// a matrix: more than three are pairs.
// Rows of more numbers are pairs if the columns have names and are no square. Rows of one word and one number are pairs if all words are such as h0-h1.
func isPairs(header *tableLine, t *table, rows []tableLine) bool {
	wide := rows[0].width
	isNumbered := len(rows) > 3 || isOfArrow(rows[0].text) || inParentheses.MatchString(rows[0].text)
	isNamed := header != nil && header.width == wide
	switch {
	case t.namesEnds(header):
		return !slices.ContainsFunc(rows, func(l tableLine) bool { return !t.isPairRow(t.cells(l)) })
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
		if (hostColumn.MatchString(c.text) || endColumn.MatchString(c.text)) != (i < 2) {
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

// columns returns the columns of the two hosts and of the latencies in a list of pairs.
func (b *block) columns() ([]int, error) {
	wide := b.rows[0].width
	var names []tableCell
	if b.header != nil && b.header.width == wide {
		names = b.t.cells(*b.header)
	}
	first := b.t.cells(b.rows[0])
	for k, c := range names {
		for _, l := range b.rows {
			if wide > 3 && sizeColumn.MatchString(c.text) && b.t.cells(l)[k].text != first[k].text {
				return nil, fmt.Errorf("line %d: a list of pairs with several sizes of messages: keep the lines of one", l.number)
			}
		}
	}
	switch {
	case b.t.namesEnds(b.header):
		return b.t.ends, nil
	case wide <= 3:
		return []int{0, 1, wide - 1}, nil
	case names != nil:
		if latency, times := latencyAmong(names[2:]); times == 1 {
			return []int{0, 1, 2 + latency}, nil
		}
	}
	return nil, fmt.Errorf("line %d: a list of pairs with %d columns of numbers: keep the one of latencies, or name that one alone latency in a first line", b.rows[0].number, wide-2)
}

// pairs makes a square of a list. Names come in the order in which they are met, numbers in theirs.
func (b *block) pairs() (*shape, error) {
	columns, err := b.columns()
	if err != nil {
		return nil, err
	}
	column := columns[2]
	s := &shape{named: "from a list of pairs", isList: true, used: len(b.rows)}
	if b.header != nil && b.header.width == b.rows[0].width {
		s.used++
		if name := b.t.cells(*b.header)[column].text; isUnit(name) { // "from,to,us"
			b.t.notes = append(b.t.notes, textLine{b.header.number, name})
		}
	}
	hostsOf := func(cells []tableCell) (from, to string) {
		if len(cells) > 2 {
			return cells[columns[0]].text, cells[columns[1]].text
		}
		from, to, _ = cutPair(cells[0])
		return from, to
	}
	number, times, most := map[string]int{}, map[[2]int]int{}, 0
	hostOf := func(name string) int {
		i, known := number[name]
		if !known {
			i = len(s.names)
			number[name], s.names = i, append(s.names, name)
		}
		return i
	}
	all := make([]entry, 0, len(b.rows))
	for _, l := range b.rows {
		cells := b.t.cells(l)
		from, to := hostsOf(cells)
		e := entry{hostOf(from), hostOf(to), cells[column], l.number, column + 1}
		all = append(all, e)
		times[[2]int{e.from, e.to}]++
		most = max(most, times[[2]int{e.from, e.to}])
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
	inOrder := slices.Clone(s.names)
	if whole := func(name string) int { return tableCell{text: name}.whole() }; !slices.ContainsFunc(s.names, func(name string) bool { return whole(name) < 0 }) {
		slices.SortFunc(inOrder, func(a, b string) int { return cmp.Compare(whole(a), whole(b)) })
	}
	for i, name := range inOrder {
		number[name] = i
	}
	for i, e := range all {
		all[i].from, all[i].to = number[s.names[e.from]], number[s.names[e.to]]
	}
	s.names, s.entries = inOrder, slices.Values(all)
	return s, nil
}

// maySquare refuses a square of which pairs fill so little that it would cost far more memory than its file.
func maySquare(hosts, pairs int) error {
	if hosts > maxColumns || hosts > 1000 && pairs < hosts*hosts/100 {
		return fmt.Errorf("%s of %s: want at least one in a hundred, and at most %d hosts", words.Count(pairs, "pair"), words.Count(hosts, "host"), maxColumns)
	}
	return nil
}
