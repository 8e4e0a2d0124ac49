package outcome

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/topocast/topocast/internal/words"
)

// gap is between two columns.
const gap = 2

// narrowest is how far a column of names is narrowed, if its words are not longer.
const narrowest = 16

// widths are those of the columns of rows, the first of which is the head.
func widths(rows [][]string) []int {
	all := make([]int, len(rows[0]))
	for _, row := range rows {
		for k, cell := range row {
			all[k] = max(all[k], utf8.RuneCountInString(cell))
		}
	}
	return all
}

// together is how wide columns are beside each other.
func together(columns []int) int {
	all := -gap
	for _, w := range columns {
		all += w + gap
	}
	return all
}

// narrow breaks names and heads of rows until they fit into the width, the widest column first, or cannot get narrower.
func (t *Table) narrow(rows [][]string) [][]string {
	for tried := make([]bool, len(t.Columns)); ; {
		have := widths(rows)
		excess := together(have) - width
		if excess <= 0 {
			return rows
		}
		widest := -1
		for k := range t.Columns {
			if !tried[k] && t.left(k) && (widest < 0 || have[k] > have[widest]) {
				widest = k
			}
		}
		if widest < 0 {
			return rows
		}
		tried[widest] = true
		rows = brokenIn(rows, widest, max(narrowest, have[widest]-excess))
	}
}

// left says that column k is one of names, which stand on the left.
func (t *Table) left(k int) bool { return t.Columns[k].text && !t.Columns[k].right }

// indent shows that a line goes on with the one above.
const indent = 2

// brokenIn breaks the cells of column k into lines of at most that width, if words are not longer. Lines after a cell's first one stand in
// rows of their own, in which the other columns are empty.
func brokenIn(rows [][]string, k, most int) [][]string {
	var broken [][]string
	for _, row := range rows {
		lines := []string{row[k]}
		if utf8.RuneCountInString(row[k]) > most {
			lines = strings.Split(words.Fill(row[k], most-indent), "\n")
		}
		for i, line := range lines {
			next := slices.Clone(row)
			if i > 0 {
				next, line = make([]string, len(row)), strings.Repeat(" ", indent)+line
			}
			next[k] = line
			broken = append(broken, next)
		}
	}
	return broken
}

// parts are the columns that stand beside each other: all of them, or, where they are too wide, in several turns, each
// with the first ones again, by which rows are known.
func (t *Table) parts(have []int) [][]int {
	keys := 0
	for keys < len(have) && t.left(keys) {
		keys++
	}
	keys = max(1, keys)
	if together(have[:keys]) > width/2 {
		keys = 1
	}
	var parts [][]int
	var part []int
	used := 0
	for k := range have {
		if k >= keys && len(part) > keys && used+gap+have[k] > width {
			parts = append(parts, part)
			part = nil
		}
		if part == nil {
			for key := range min(keys, k) {
				part = append(part, key)
			}
			used = max(0, together(have[:len(part)]))
		}
		if part = append(part, k); used > 0 {
			used += gap
		}
		used += have[k]
	}
	return append(parts, part)
}
