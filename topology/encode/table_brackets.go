package encode

import (
	"fmt"
	"regexp"
	"strings"
)

// Numbers in brackets, as NumPy, MATLAB and Python write a matrix: lists in a list, or rows that end at semicolons or with their lines. Between
// the brackets stand numbers, nan, inf and null alone.
var (
	bracketed = regexp.MustCompile(`\[(?:[0-9+\-.,;\seEnaNifIulL]|\[[0-9+\-.,;\seEnaNifIulL]*\])*\]`)
	nestedRow = regexp.MustCompile(`\[[^][]+\]`)
	flatRow   = regexp.MustCompile(`[^][;\n]+`)
	indexOfR  = regexp.MustCompile(`\[(?:,(\d+)|(\d+),)\]`) // of a column or a row without a name
)

// unbracket cuts a text into lines. Of a matrix in brackets it makes a line for each row, between blank lines. What stands around the matrix
// comes before and after. Several matrices are an error.
func unbracket(data []byte) ([]textLine, error) {
	text := indexOfR.ReplaceAllString(string(data), "$1$2")
	var lines []textLine
	at, number, matrices := 0, 1, 0
	until := func(to int) (passed string, first int) { // goes on to a place in the text
		passed, first = text[at:to], number
		at, number = to, number+strings.Count(passed, "\n")
		return passed, first
	}
	for _, m := range bracketed.FindAllStringIndex(text, -1) {
		inside, row := text[m[0]:m[1]], flatRow
		if strings.Count(inside, "[") > 1 {
			row = nestedRow
		} else if !strings.ContainsAny(inside, ";\n") {
			continue
		}
		matrices++
		passed, first := until(m[0])
		lines = append(append(lines, splitLines(passed, first)...), textLine{number: number})
		for _, r := range row.FindAllStringIndex(inside, -1) {
			until(m[0] + r[0])
			passed, first := until(m[0] + r[1])
			if numbers := strings.Trim(strings.ReplaceAll(passed, "\n", " "), "[], \t"); numbers != "" {
				lines = append(lines, textLine{first, numbers})
			}
		}
		until(m[1])
		lines = append(lines, textLine{number: number})
	}
	if matrices > 1 {
		return nil, fmt.Errorf("line 1: %d tables are in the file, each in brackets: keep one", matrices)
	}
	passed, first := until(len(text))
	return append(lines, splitLines(passed, first)...), nil
}
