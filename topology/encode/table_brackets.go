package encode

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// unbracket cuts a text into lines. Of a matrix of NumPy, MATLAB or Python it makes a line for each row, without brackets, between blank
// lines; what stands around it comes before and after. Several matrices are an error.
func unbracket(data []byte) ([]textLine, error) {
	matrices := 0
	var lines []textLine
	rest, number := data, 1 // behind the last matrix
	for at := 0; ; {
		from := bytes.IndexByte(rest[at:], '[')
		if from < 0 {
			break
		}
		from += at
		size := closing(rest[from:])
		at = from + max(size, 1)
		inside := rest[from : from+size]
		if nested := bytes.Count(inside, []byte("[")) > 1; nested || bytes.ContainsAny(inside, ";\n") {
			matrices++
			lines = append(lines, splitLines(rest[:from], number)...)
			matrix := splitLines(inside, lines[len(lines)-1].number)
			number = matrix[len(matrix)-1].number
			blank := []textLine{{number: number}}
			lines = slices.Concat(lines, blank, rowsOf(matrix, nested), blank)
			rest, at = rest[at:], 0
		}
	}
	if matrices > 1 {
		return nil, fmt.Errorf("line 1: %d tables are in the file, each in brackets: keep one", matrices)
	}
	return append(lines, splitLines(rest, number)...), nil
}

// closing returns the length of the text up to the bracket that closes the first one, or 0 if other than numbers stand between.
func closing(text []byte) int {
	depth := 0
	for i, c := range text {
		switch {
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case bytes.IndexByte([]byte("0123456789+-.,; \t\r\neEnaNifIulL"), c) < 0: // nan, inf and null too
			return 0
		}
	}
	return 0
}

// rowsOf returns the rows of a matrix in brackets. A row ends at a bracket; if the matrix is not nested, at semicolons and with its line, too.
func rowsOf(lines []textLine, nested bool) []textLine {
	var rows []textLine
	var row []byte
	start := 0 // the line on which the row begins
	end := func() {
		if text := strings.TrimRight(string(row), ", "); text != "" {
			rows = append(rows, textLine{start, text})
		}
		row = row[:0]
	}
	for _, l := range lines {
		for _, c := range []byte(l.text) {
			switch {
			case c == ']' || c == ';' && !nested:
				end()
			case c == '[' || len(row) == 0 && strings.IndexByte(", \t", c) >= 0:
			default:
				if len(row) == 0 {
					start = l.number
				}
				row = append(row, c)
			}
		}
		switch {
		case !nested:
			end()
		case len(row) > 0: // the row goes on in the next line
			row = append(row, ' ')
		}
	}
	return rows
}
