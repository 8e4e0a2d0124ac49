package encode

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/words"
)

// triangle finds out which triangle of a matrix rows of different lengths hold. It has the diagonal if all of that is 0 or empty.
func (b block) triangle() (*shape, error) {
	n := len(b.rows)
	if !slices.ContainsFunc(b.rows, func(l tableLine) bool { return !l.head.isWord() }) {
		b.index = 1
	}
	width := func(i int) int { return b.rows[i].width - b.index - b.trailing }
	first, last, step := width(0), width(n-1), 0
	switch {
	case first == 0 && last == n-1, first == 1 && last == n:
		step = 1
	case first == n-1 && last == 0, first == n && last == 1:
		step = -1
	}
	for i, l := range b.rows {
		if width(i) != first+i*step {
			return nil, fmt.Errorf("line %d: %s, separated by %s, where line %d has %d", l.number, words.Count(l.width, "column"), b.t.separatorName(), b.rows[0].number, b.rows[0].width)
		}
	}
	s := &shape{n: n, used: n}
	header := b.header
	if header == nil {
		header = b.far
	}
	var above []string
	if header != nil {
		above = b.namesOf(*header, 0)
		if b.index == 1 && len(above) > 0 && (above[0] == "" || len(above) == n+1 || len(above) == n+2) {
			above = above[1:] // the corner
		}
		if isText := b.t.comma == ' ' || header.width == 1; isText && len(above) != n && len(above) != n+1 {
			above = nil
		}
	}
	isStrict, hasBare := false, false
	for i, l := range b.rows {
		cells := b.t.cells(l)
		if cells = cells[b.index : len(cells)-b.trailing]; len(cells) == 0 {
			continue
		}
		at := 0
		if step > 0 {
			at = len(cells) - 1
		}
		hasBare = hasBare || width(i) > 0 && !isBlankCell(cells[at])
	}
	switch hosts := len(above); {
	case hosts != 0 && hosts != n && hosts != n+1:
		return nil, fmt.Errorf("line %d: %s for a triangle of %s", header.number, words.Count(hosts, "name"), words.Count(n, "line"))
	case first == 0 || last == 0 || hosts == n: // the host without numbers has a line
	case hosts == n+1, hasBare && step > 0 && b.afterBlank:
		s.n, isStrict = n+1, true
	case hasBare:
		return nil, fmt.Errorf("line %d: a triangle of %s: with its diagonal or without? Write 0 there, or the other triangle", b.rows[0].number, words.Count(n, "line"))
	}
	if s.n > maxColumns {
		return nil, fmt.Errorf("line %d: %d hosts: want at most %d", b.rows[0].number, s.n, maxColumns)
	}
	if above != nil {
		s.used++
	}
	below := 0 // hosts above the first row
	if isStrict && step > 0 {
		below = 1
	}
	s.entries = b.entries(func(i int) (from, to int) {
		switch {
		case step > 0:
			return i + below, 0
		case isStrict || last == 0:
			return i, i + 1
		}
		return i, i
	})
	return s, b.setNames(s, above, below)
}
