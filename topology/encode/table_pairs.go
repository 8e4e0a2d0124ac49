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

// isPairRow tells whether a line is one of a list of pairs whose columns have names.
func (t *table) isPairRow(cells []tableCell) bool {
	return t.ends != nil && len(cells) == t.lines[t.endsLine].width && !cells[t.ends[0]].absent && !cells[t.ends[1]].absent && !cells[t.ends[2]].isWord()
}

// pairColumns returns the columns of the two hosts and of the latencies if the rows are a list of pairs. Each row has two names, and the
// same number of numbers. Names may be numbers, of which no pair has one twice.
//
//   - Rows of three numbers are pairs if an arrow or brackets tell the hosts, or the columns are called as hosts are. Without these, three
//     rows may be a matrix: more than three are pairs.
//   - Rows of more numbers are pairs if the columns have names and are no square.
//   - Rows of one word and one number are pairs if all words are such as h0-h1.
func (b *block) pairColumns() ([]int, error) {
	if b.t.ends != nil && b.header == &b.t.lines[b.t.endsLine] {
		if slices.ContainsFunc(b.rows, func(l tableLine) bool { return !b.t.isPairRow(b.t.cells(l)) }) {
			return nil, nil
		}
		return b.t.ends, b.sameSizes(b.t.cells(*b.header))
	}
	wide, isNumbered := b.rows[0].width, len(b.rows) > 3 || isOfArrow(b.rows[0].text) || inParentheses.MatchString(b.rows[0].text)
	var names []tableCell // of the columns
	if b.header != nil && b.header.width == wide {
		names = b.t.cells(*b.header)
	}
	if names != nil && wide > 2 && len(b.rows) > 1 && namesPairs(names) {
		isNumbered = true
	} else if wide > 3 {
		isNumbered = names != nil && len(b.rows) != wide && len(b.rows) != wide-1
	}
	isName := func(c tableCell) bool { return !c.absent && (!c.number || isNumbered && c.whole() >= 0) }
	for _, l := range b.rows {
		if l.width != wide || wide < 2 {
			return nil, nil
		}
		cells := b.t.cells(l)
		from, to := cells[0], cells[1]
		if wide == 2 {
			if _, _, ok := cutPair(from); !ok || to.isWord() {
				return nil, nil
			}
		} else if !isName(from) || !isName(to) || from.number != to.number || from.number && from.text == to.text {
			return nil, nil
		}
	}
	if wide <= 3 {
		return []int{0, 1, wide - 1}, nil
	}
	if names != nil {
		if err := b.sameSizes(names); err != nil {
			return nil, err
		} else if latency, times := latencyAmong(names[2:]); times == 1 {
			return []int{0, 1, 2 + latency}, nil
		}
	}
	return nil, fmt.Errorf("line %d: a list of pairs with %d columns of numbers: keep the one of latencies, or name that one alone latency in a first line", b.rows[0].number, wide-2)
}

// sameSizes refuses rows that have several sizes of messages in the column that is called so.
func (b *block) sameSizes(names []tableCell) error {
	for k, c := range names {
		if len(names) < 4 || !sizeColumn.MatchString(c.text) {
			continue
		}
		for _, l := range b.rows {
			if b.t.cells(l)[k].text != b.t.cells(b.rows[0])[k].text {
				return fmt.Errorf("line %d: a list of pairs with several sizes of messages: keep the lines of one", l.number)
			}
		}
	}
	return nil
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

// pairs makes a square of a list with the given columns. Names come in the order in which they are met, numbers in theirs.
func (b *block) pairs(columns []int) (*shape, error) {
	column := columns[2]
	s := &shape{named: "from a list of pairs", isList: true, used: len(b.rows)}
	if b.header != nil && b.header.width == b.rows[0].width {
		s.used++
		name := b.t.cells(*b.header)[column].text
		if unit, err := ParseUnit(name); err == nil && unit != 0 { // "from,to,us"
			b.t.notes = append(b.t.notes, textLine{b.header.number, name})
		}
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
	all := make([]entry, len(b.rows))
	for i, l := range b.rows {
		cells := b.t.cells(l)
		from, to := cells[columns[0]].text, cells[columns[1]].text
		if len(cells) == 2 {
			from, to, _ = cutPair(cells[0])
		}
		pair := [2]int{hostOf(from), hostOf(to)}
		all[i] = entry{pair[0], pair[1], cells[column], l.number, column + 1}
		times[pair]++
		most = max(most, times[pair])
	}
	s.n = len(s.names)
	if s.n < 2 {
		return nil, fmt.Errorf("line %d: a list of pairs of one host", b.rows[0].number)
	}
	if err := maySquare(s.n, len(times)); err != nil {
		return nil, fmt.Errorf("line %d: %w", b.rows[0].number, err)
	}
	if most > 1 {
		s.warnings = append(s.warnings, "pairs are given up to "+strconv.Itoa(most)+" times: the median of each counts")
	}
	met, whole := slices.Clone(s.names), func(name string) int { return tableCell{text: name}.whole() }
	if !slices.ContainsFunc(met, func(name string) bool { return whole(name) < 0 }) {
		slices.SortStableFunc(s.names, func(a, b string) int { return cmp.Compare(whole(a), whole(b)) })
	}
	for i, name := range s.names {
		number[name] = i
	}
	for i, e := range all {
		all[i].from, all[i].to = number[met[e.from]], number[met[e.to]]
	}
	s.entries = slices.Values(all)
	return s, nil
}

// maySquare refuses a square of which pairs fill so little that it would cost far more memory than its file.
func maySquare(hosts, pairs int) error {
	if hosts > maxColumns || hosts > 1000 && pairs < hosts*hosts/100 {
		return fmt.Errorf("%s of %s: want at least one in a hundred, and at most %d hosts", words.Count(pairs, "pair"), words.Count(hosts, "host"), maxColumns)
	}
	return nil
}
