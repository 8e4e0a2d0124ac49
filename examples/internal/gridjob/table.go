package gridjob

import (
	"fmt"
	"math"
	"strings"
)

// A Line is a line of the table of results: an order of ranks, and a way to communicate.
type Line struct {
	Grid
	Name          string
	Cells         []any   // between the name and the last column: times in s are float64
	Communication float64 // s, that of which it is predicted in which order it is less; NaN: not to be compared
	Predicted     float64 // s, the last column; NaN: not known
}

// Table prints the lines under the heads of their columns, with times in ms, then a note, and how good predictions were.
func (o *Options) Table(title string, heads []string, lines []Line, note string) error {
	name := 0 // the width of its column
	for _, l := range lines {
		name = max(name, len(l.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s; times in ms\n\n%-7s %-*s", title, heads[0], name, heads[1])
	width := func(column int) int { return max(8, len(heads[2+column])) }
	for k, head := range heads[2:] {
		fmt.Fprintf(&b, " %*s", width(k), head)
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "\n%-7s %-*s", l.Order(), name, l.Name)
		for k, x := range append(l.Cells, l.Predicted) {
			fmt.Fprintf(&b, " %*s", width(k), cell(x))
		}
	}
	_, err := fmt.Fprintf(o.Out, "%s\n\n%s\n%s\n", &b, note, verdict(lines, name))
	return err
}

func cell(x any) string {
	seconds, isTime := x.(float64)
	switch {
	case !isTime:
		return fmt.Sprint(x)
	case math.IsNaN(seconds):
		return "-"
	}
	return fmt.Sprintf("%.3f", 1e3*seconds)
}

// verdict says for each way to communicate whether the order of ranks in which that was predicted to take less is right.
func verdict(lines []Line, width int) string {
	text := ""
	for _, rows := range lines {
		for _, cols := range lines {
			if rows.Name != cols.Name || !rows.ByRows || cols.ByRows || math.IsNaN(rows.Predicted+cols.Predicted+rows.Communication) {
				continue
			}
			text += fmt.Sprintf("\n  %-*s %s", width, rows.Name, compared(&rows, &cols))
		}
	}
	if text == "" {
		return "No order of ranks is predicted: there is no -network."
	}
	return "The order of ranks that was predicted to communicate less:" + text
}

// compared holds the times of two orders of ranks against what was predicted.
func compared(rows, cols *Line) string {
	order := Grid{ByRows: rows.Predicted < cols.Predicted}
	switch {
	case areAlike(rows.Predicted, cols.Predicted):
		return "none, as both take as long"
	case areAlike(rows.Communication, cols.Communication):
		return order.Order() + ", both take as long"
	case (rows.Communication < cols.Communication) == order.ByRows:
		return order.Order() + ", right"
	}
	return order.Order() + ", wrong"
}

// areAlike tells whether neither time is better.
func areAlike(a, b float64) bool {
	const alike = 0.05
	return math.Abs(a-b) <= alike*max(a, b)
}
