package encode

import (
	"errors"
	"strconv"
	"strings"
)

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
func (b *block) isLabelled(s *shape) (bool, error) {
	n := len(b.rows)
	if n < 2 {
		return false, nil
	}
	first, corner := b.t.cells(b.rows[0])[:n], b.rows[0].head
	words, isSame := 0, areNumbersOfHosts(first[1:])
	for i, l := range b.rows[1:] {
		isSame = isSame && l.head.text == first[i+1].text
		if !l.head.number && l.head.text != "" {
			words++
		}
	}
	switch {
	case corner.isWord():
		return isSame || words == n-1, nil
	case n == 3 && b.header == nil && b.namesThreePairs():
		return false, errors.New("line 1: three lines of three numbers: a matrix, or a list of the pairs 0-1, 0-2 and 1-2? Names of the hosts tell")
	case !isSame || n < 3 || b.header != nil && b.header.width == n:
		return false, nil
	}
	value := func(c tableCell) float64 {
		x, _ := strconv.ParseFloat(strings.Replace(c.text, ",", ".", 1), 64)
		return x
	}
	hasFraction, hasUnit, isCorner := false, false, corner.absent
	pairs, broken := 0, 0
	for i := 1; i < n; i++ {
		cells := b.t.cells(b.rows[i])
		for k, c := range cells[1:n] {
			k++
			switch {
			case i == k:
				isCorner = isCorner && !c.absent
			case c.number:
				x, from, to := value(c), value(first[i]), value(first[k])
				hasFraction = hasFraction || c.whole() < 0 && x > 0
				hasUnit = hasUnit || c.unit != 0
				pairs++
				if x > from+to || from > x+to || to > x+from {
					broken++
				}
			}
		}
	}
	switch {
	case corner.absent && (isCorner || hasUnit || first[1].text == "0" && n >= leastLabelled || 4*broken > pairs):
		return true, nil
	case n < leastLabelled:
	case corner.absent:
		s.warnings = append(s.warnings, "the first line and the first column are the same whole numbers and were taken for latencies: if they are numbers of hosts, write a name into the corner")
	case hasFraction:
		return false, errors.New("line 1: the first line and the first column are the same whole numbers: of hosts, or latencies? A word in the corner makes them numbers of hosts, names of all hosts latencies")
	}
	return false, nil
}

// namesThreePairs tells whether three rows may be the three pairs of three hosts.
func (b *block) namesThreePairs() bool {
	for i, pair := range [][2]string{{"0", "1"}, {"0", "2"}, {"1", "2"}} {
		if cells := b.t.cells(b.rows[i]); cells[0].text != pair[0] || cells[1].text != pair[1] {
			return false
		}
	}
	return true
}
