package encode

import (
	"bytes"
	"fmt"
	"slices"
)

// unbracket writes a matrix of NumPy, MATLAB or JSON without its brackets: a line for each row, between blank lines, the text around
// before and after. Text without such a matrix stays as it was; several are an error.
func unbracket(data []byte) (text []byte, err error) {
	matrices := 0
	text = data
	for at := 0; ; {
		from := bytes.IndexByte(data[at:], '[')
		if from < 0 {
			break
		}
		from += at
		size := closing(data[from:])
		if size == 0 {
			at = from + 1
			continue
		}
		at = from + size
		inside := data[from:at]
		if nested := bytes.Count(inside, []byte("[")) > 1; nested || bytes.ContainsAny(inside, ";\n") {
			matrices++
			text = slices.Concat(data[:from], []byte("\n\n"), rowsOf(inside, nested), []byte("\n\n"), data[at:])
		}
	}
	if matrices > 1 {
		return nil, fmt.Errorf("line 1: %d tables are in the file, each in brackets: keep one", matrices)
	}
	return text, nil
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

// rowsOf writes the rows of a matrix in brackets without them.
func rowsOf(text []byte, nested bool) []byte {
	var out []byte
	for _, c := range text {
		switch {
		case c == '[':
		case c == ']' || c == ';' && !nested:
			out = append(bytes.TrimRight(out, ", \n"), '\n')
		case nested && (c == '\n' || c == '\r'): // a row may go on in the next line
			if len(out) > 0 && out[len(out)-1] != '\n' {
				out = append(out, ' ')
			}
		case (c == ',' || c == '\n') && (len(out) == 0 || out[len(out)-1] == '\n'):
		default:
			out = append(out, c)
		}
	}
	return out
}
