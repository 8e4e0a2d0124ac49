package encode

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// A Unit is the unit of the numbers in a file, in s.
type Unit float64

// The units in which latencies are published.
const (
	Second      Unit = 1
	Millisecond Unit = 1e-3
	Microsecond Unit = 1e-6
	Nanosecond  Unit = 1e-9
)

// ParseUnit returns the unit with the given name: s, ms, us or ns.
func ParseUnit(name string) (Unit, error) {
	switch name {
	case "s":
		return Second, nil
	case "ms":
		return Millisecond, nil
	case "us":
		return Microsecond, nil
	case "ns":
		return Nanosecond, nil
	}
	return 0, fmt.Errorf("encode: unit %q: want s, ms, us or ns", name)
}

// Limits of ReadMatrix. A line is never kept whole beyond maxLine bytes, and
// the matrix grows with the lines read, so a hostile file costs no more memory
// than its own size.
const (
	maxColumns = 1 << 15
	maxLine    = 4 << 20
)

// maxAsymmetry is the ratio of the two directions of one pair above which a
// file is refused. Real directions differ by routing and by outliers, seldom
// by more than a factor of ten; a thousand is a unit or a column gone wrong.
const maxAsymmetry = 1000

// ReadMatrix reads a matrix of latencies in CSV: n lines of n numbers, cell
// (i, j) the latency from host i to host j in the given unit. Empty cells and
// NaN mean "not measured". The diagonal is not used: it may be empty or hold
// any number, and is NaN in the result. A first line without a single number
// holds the names of the hosts. If one triangle is empty throughout, as in the
// output of core-to-core-latency, the other is mirrored into it. Blank lines
// at the end are ignored.
//
// The latencies are returned in s; names is nil if the file has none. Cells
// that are not numbers, are negative or infinite, pairs whose directions differ
// by more than a factor of 1000, lines of unequal length, and files that are
// empty, not square or above 32768 hosts are errors which name the line and,
// where there is one, the column, both counted from 1. O(size of the file).
func ReadMatrix(r io.Reader, unit Unit) (m *mat.Dense, names []string, err error) {
	if !(unit > 0) || math.IsInf(float64(unit), 1) {
		return nil, nil, fmt.Errorf("encode: read matrix: unit of %g s: want above 0", float64(unit))
	}
	var (
		cells []float64
		n     = -1 // columns, once known
		rows  int
		line  int
		blank int // number of the first of the blank lines just read, or 0
		lines = bufio.NewScanner(r)
	)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		line++
		text := bytes.TrimSpace(lines.Bytes())
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // spreadsheets write a byte order mark
		}
		// A blank line is a line of one empty cell only in the 1 x 1 matrix.
		if len(text) == 0 && line > 1 {
			if blank == 0 {
				blank = line
			}
			continue
		}
		if blank != 0 {
			return nil, nil, fmt.Errorf("encode: read matrix: line %d: empty line inside the matrix", blank)
		}
		columns := bytes.Count(text, []byte{','}) + 1
		if line == 1 {
			if names, err = header(text); err != nil {
				return nil, nil, err
			}
			if n = columns; names != nil {
				n = len(names)
			}
			if n > maxColumns {
				return nil, nil, fmt.Errorf("encode: read matrix: line 1: %d columns: want at most %d", n, maxColumns)
			}
			if names != nil {
				continue
			}
		}
		switch {
		case columns != n:
			return nil, nil, fmt.Errorf("encode: read matrix: line %d: %d columns where the first line has %d", line, columns, n)
		case rows == n:
			return nil, nil, fmt.Errorf("encode: read matrix: line %d: more lines than the %d columns: want a square matrix", line, n)
		}
		if cells, err = appendRow(cells, text, line, rows, unit); err != nil {
			return nil, nil, err
		}
		rows++
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, nil, fmt.Errorf("encode: read matrix: line %d: longer than %d bytes", line+1, maxLine)
	case err != nil:
		return nil, nil, fmt.Errorf("encode: read matrix: line %d: %w", line+1, err)
	case line == 0:
		return nil, nil, fmt.Errorf("encode: read matrix: line 1: the file is empty")
	case rows != n:
		return nil, nil, fmt.Errorf("encode: read matrix: line %d: the file ends after %d lines of %d columns: want a square matrix", line+1, rows, n)
	}
	if err := fold(cells, n, line-rows-blanks(line, blank)); err != nil {
		return nil, nil, err
	}
	return mat.NewDense(n, n, cells), names, nil
}

// blanks is the number of blank lines at the end of a file.
func blanks(line, first int) int {
	if first == 0 {
		return 0
	}
	return line - first + 1
}

// header returns the names if the first line is one of names: if it has a
// cell that is neither empty nor a number, and none that is a number.
func header(text []byte) ([]string, error) {
	words, numbers := 0, 0
	for cell := range bytes.SplitSeq(text, []byte{','}) {
		cell = bytes.TrimSpace(cell)
		if len(cell) == 0 {
			continue
		}
		if _, err := strconv.ParseFloat(string(cell), 64); err == nil || errors.Is(err, strconv.ErrRange) {
			numbers++
		} else {
			words++
		}
	}
	if words == 0 || numbers > 0 {
		return nil, nil
	}
	fields := csv.NewReader(bytes.NewReader(text))
	fields.TrimLeadingSpace = true
	names, err := fields.Read()
	if err != nil {
		return nil, fmt.Errorf("encode: read matrix: line 1: names: %w", err)
	}
	return names, nil
}

// appendRow parses a line of cells of row number row.
func appendRow(cells []float64, text []byte, line, row int, unit Unit) ([]float64, error) {
	column := 0
	for cell := range bytes.SplitSeq(text, []byte{','}) {
		column++
		cell = bytes.TrimSpace(cell)
		v := math.NaN()
		if len(cell) > 0 {
			var err error
			if v, err = strconv.ParseFloat(string(cell), 64); err != nil {
				return nil, fmt.Errorf("encode: read matrix: line %d, column %d: %q is not a number", line, column, shorten(cell))
			}
		}
		switch {
		case column-1 == row:
			v = math.NaN()
		case math.IsInf(v, 0):
			return nil, fmt.Errorf("encode: read matrix: line %d, column %d: %s is not finite", line, column, cell)
		case v < 0:
			return nil, fmt.Errorf("encode: read matrix: line %d, column %d: latency %s is negative", line, column, cell)
		}
		cells = append(cells, v*float64(unit))
	}
	return cells, nil
}

func shorten(cell []byte) []byte {
	if len(cell) > 40 {
		return append(bytes.Clone(cell[:37]), "..."...)
	}
	return cell
}

// fold mirrors a lone triangle and checks that the two directions of each
// pair are of one order of magnitude. headerLines stand above the first row.
func fold(cells []float64, n, headerLines int) error {
	var upper, lower bool
	for i := range n {
		for j := range i {
			lower = lower || !math.IsNaN(cells[i*n+j])
			upper = upper || !math.IsNaN(cells[j*n+i])
		}
	}
	for i := range n {
		for j := range i {
			a, b := cells[i*n+j], cells[j*n+i]
			switch {
			case !upper:
				cells[j*n+i] = a
			case !lower:
				cells[i*n+j] = b
			case a > 0 && b > 0 && math.Max(a, b) > maxAsymmetry*math.Min(a, b):
				line, column := i+headerLines+1, j+1
				return fmt.Errorf("encode: read matrix: line %d, column %d: %.3g times the other direction, line %d, column %d",
					line, column, a/b, j+headerLines+1, i+1)
			}
		}
	}
	return nil
}

// WriteMatrix writes latencies in s as CSV in the given unit, with a first line
// of names unless names is nil. The diagonal and cells that are NaN are left
// empty. Numbers carry 12 significant digits. O(n^2).
func WriteMatrix(w io.Writer, m mat.Matrix, names []string, unit Unit) error {
	n, columns := m.Dims()
	switch {
	case n != columns:
		return fmt.Errorf("encode: write matrix: %d x %d: want a square matrix", n, columns)
	case names != nil && len(names) != n:
		return fmt.Errorf("encode: write matrix: %d names for %d hosts", len(names), n)
	case !(unit > 0):
		return fmt.Errorf("encode: write matrix: unit of %g s: want above 0", float64(unit))
	}
	buffer := bufio.NewWriter(w)
	if names != nil {
		fields := csv.NewWriter(buffer)
		if err := fields.Write(names); err != nil {
			return fmt.Errorf("encode: write matrix: names: %w", err)
		}
		fields.Flush()
	}
	var cell []byte
	for i := range n {
		for j := range n {
			if j > 0 {
				buffer.WriteByte(',')
			}
			if v := m.At(i, j); i != j && !math.IsNaN(v) {
				cell = strconv.AppendFloat(cell[:0], v/float64(unit), 'g', 12, 64)
				buffer.Write(cell)
			}
		}
		buffer.WriteByte('\n')
	}
	if err := buffer.Flush(); err != nil {
		return fmt.Errorf("encode: write matrix: %w", err)
	}
	return nil
}
