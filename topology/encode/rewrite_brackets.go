package encode

import (
	"bytes"
)

// unbracket writes a matrix of NumPy, MATLAB or JSON, in brackets, without them and without the text around, a line for each row. It
// returns how many such matrices there are; without any the text is as it was.
func unbracket(data []byte) (text []byte, matrices int) {
	for rest := data; ; {
		from := bytes.IndexByte(rest, '[')
		if from < 0 {
			break
		}
		to := closing(rest[from:])
		if to == 0 {
			rest = rest[from+1:]
			continue
		}
		inside := rest[from : from+to]
		rest = rest[from+to:]
		if nested := bytes.Count(inside, []byte("[")) > 1; nested || bytes.ContainsAny(inside, ";\n") {
			matrices++
			text = rowsOf(inside, nested)
		}
	}
	if matrices == 0 {
		return data, 0
	}
	return text, matrices
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
