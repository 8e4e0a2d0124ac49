package record

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

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
	if string(text) == "null" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || len(bytes.Trim(text, "0123456789.+-eE")) > 0 {
		return 0, fmt.Errorf("%.40q in a row: want a number", text)
	}
	return v, nil
}
