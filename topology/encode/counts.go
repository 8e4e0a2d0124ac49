package encode

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// ReadCounts reads a square matrix of counts, such as the bytes that each rank sends to each other. Cells are separated as those of ReadMatrix;
// comments, and names in a first line, a first column or both are passed over. Empty cells and the diagonal are 0. Everything else that
// is no number of at least 0 is an error, which names the line and the column, and so is a file that names a unit of time.
func ReadCounts(r io.Reader) (*mat.Dense, error) {
	data, err := readLines(r)
	var m *mat.Dense
	if err == nil {
		m, err = readCounts(data)
	}
	if err != nil {
		return nil, fmt.Errorf("encode: read counts: %w", err)
	}
	return m, nil
}

func readCounts(data []byte) (*mat.Dense, error) {
	unit, _, err := findUnit(data)
	if m := unitComment.FindSubmatch(data); m != nil && unit == 0 {
		unit, err = ParseUnit(string(m[1]))
	}
	if err == nil && unit != 0 {
		return nil, fmt.Errorf("the numbers are times in %s: want counts", unit)
	}
	lines, _, _ := tableLines(data)
	lines = slices.DeleteFunc(lines, func(l tableLine) bool { return l.cells == nil })
	if len(lines) == 0 {
		return nil, errors.New("no numbers")
	}
	isName := func(c tableCell) bool { return !c.number && strings.TrimSpace(c.text) != "" }
	first := lines[0].cells
	header := slices.ContainsFunc(first[1:], isName) || isName(first[0]) && len(first) == len(lines)
	if header {
		lines = lines[1:]
	}
	column := 0 // of the first number
	if header && isName(first[0]) && len(first) == len(lines)+1 || !slices.ContainsFunc(lines, func(l tableLine) bool { return !isName(l.cells[0]) }) {
		column = 1
	}
	n := len(lines)
	if n < 2 {
		return nil, fmt.Errorf("%d lines of numbers: want a square matrix", n)
	}
	m := mat.NewDense(n, n, nil)
	for i, l := range lines {
		cells := l.cells[min(column, len(l.cells)):]
		if len(cells) == n+1 && strings.TrimSpace(cells[n].text) == "" { // a separator at the end
			cells = cells[:n]
		}
		if len(cells) != n {
			return nil, fmt.Errorf("line %d: %d cells in a matrix of %d lines: want as many", l.number, len(cells), n)
		}
		for j, c := range cells {
			text := strings.TrimSpace(c.text)
			if i == j || text == "" {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v >= 0) || math.IsInf(v, 0) || c.unit != 0 {
				return nil, fmt.Errorf("line %d, column %d: %q: want a number that is not below 0", l.number, column+j+1, shorten([]byte(text)))
			}
			m.Set(i, j, v)
		}
	}
	return m, nil
}
