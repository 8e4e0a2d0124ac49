package record

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// mostDigits of a whole number are exact in a float64, whatever they are.
const mostDigits = 15

// parseRow appends the numbers of a row, "[0,1.5e-06,null]", to dst.
func parseRow(dst []float64, line []byte) ([]float64, error) {
	row, ends := bytes.CutSuffix(bytes.TrimRight(line[1:], " \t\r"), []byte("]"))
	if !ends {
		return nil, fmt.Errorf("a row that does not end: want ]")
	}
	for more := true; more; {
		var text []byte
		text, row, more = bytes.Cut(row, []byte(","))
		v, err := parseNumber(bytes.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// parseNumber is strconv.ParseFloat for what JSON calls a number, or null: none
// of the words that Go knows besides.
func parseNumber(text []byte) (float64, error) {
	whole, at := 0, 0
	for at < min(len(text), mostDigits) && text[at]-'0' <= 9 { // most numbers are short and whole
		whole = 10*whole + int(text[at]-'0')
		at++
	}
	if at == len(text) && at > 0 {
		return float64(whole), nil
	}
	if string(text) == "null" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || len(bytes.Trim(text, "0123456789.+-eE")) > 0 {
		return 0, fmt.Errorf("%.40q in a row: want a number", text)
	}
	return v, nil
}
