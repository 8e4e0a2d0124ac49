package record

import (
	"fmt"
	"math"
	"strconv"
)

// mostDigits of a whole number are exact in a float64, whatever they are.
const mostDigits = 15

// parseRow appends the numbers of a row, "[0,1.5e-06,null]", to dst. It is much of
// the time that reading takes: most numbers are short and whole.
func parseRow(dst []float64, line []byte) ([]float64, error) {
	at := 0
	space := func() {
		for at < len(line) && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
			at++
		}
	}
	at++ // the bracket
	for {
		space()
		begin := at
		whole := 0
		for at < len(line) && line[at]-'0' <= 9 && at-begin < mostDigits {
			whole = 10*whole + int(line[at]-'0')
			at++
		}
		if at > begin && at < len(line) && (line[at] == ',' || line[at] == ']') {
			dst = append(dst, float64(whole))
		} else {
			for at < len(line) && line[at] != ',' && line[at] != ']' && line[at] > ' ' {
				at++
			}
			v, err := parseNumber(line[begin:at])
			if err != nil {
				return nil, err
			}
			dst = append(dst, v)
		}
		space()
		if at == len(line) {
			return nil, fmt.Errorf("a row that does not end: want ]")
		}
		if line[at] != ',' {
			break
		}
		at++
	}
	if line[at] != ']' {
		return nil, fmt.Errorf("%.20q in a row: want , or ]", line[at:])
	}
	at++
	if space(); at < len(line) {
		return nil, fmt.Errorf("%.20q after a row", line[at:])
	}
	return dst, nil
}

// parseNumber is strconv.ParseFloat for what JSON calls a number, or null: none
// of the words that Go knows besides.
func parseNumber(text []byte) (float64, error) {
	if string(text) == "null" {
		return math.NaN(), nil
	}
	for _, c := range text {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, fmt.Errorf("%.20q in a row: want a number", text)
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q in a row: want a number", text)
	}
	return v, nil
}
