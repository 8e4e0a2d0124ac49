package outcome

import (
	"fmt"
	"math"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
)

// A Summary counts what an outcome compares with its source. Numbers that were not reproduced count with those
// that could have been.
type Summary struct {
	Values      int     // that the experiment was to give
	Within      int     // of them within 10 %
	Missing     int     // of them not reproduced
	Off         float64 // median amount by which those that were reproduced are off, relative to the printed ones; NaN: none
	Bounds      int
	Hold        int // of the bounds
	Unknown     int // of the bounds: not reproduced
	Inputs      int // numbers by which the simulated machine was made
	InputsFound int // of them within 10 % when measured on it
}

// Summary counts the outcome's comparisons.
func (o *Outcome) Summary() Summary {
	var sum Summary
	var off []float64
	for _, s := range o.Sections {
		for _, c := range s.Compared {
			one, missing := 0, 0
			if c.Holds() {
				one = 1
			}
			if math.IsNaN(c.Ours) {
				missing = 1
			}
			switch {
			case c.Kind == Input:
				sum.Inputs++
				sum.InputsFound += one
			case c.Kind.bound():
				sum.Bounds++
				sum.Hold += one
				sum.Unknown += missing
			default:
				sum.Values++
				sum.Within += one
				sum.Missing += missing
				if d := math.Abs(c.Off()); !math.IsNaN(d) {
					off = append(off, d)
				}
			}
		}
	}
	sum.Off = stats.MiddleMedian(off)
	return sum
}

// sentence tells a summary; "" if nothing was compared.
func (s Summary) sentence() string {
	var parts []string
	if s.Values > 0 {
		text := fmt.Sprintf("of %s that the source prints %d came out within %s", words.Count(s.Values, "number"), s.Within, quantity.Percent(margin))
		if !math.IsNaN(s.Off) {
			text += fmt.Sprintf(" (median off by %s)", quantity.Percent(s.Off))
		}
		if s.Missing > 0 {
			text += fmt.Sprintf(", %d could not be reproduced", s.Missing)
		}
		parts = append(parts, text)
	}
	if s.Bounds > 0 {
		text := fmt.Sprintf("of %s that it prints %d hold", words.Count(s.Bounds, "bound"), s.Hold)
		if s.Unknown > 0 {
			text += fmt.Sprintf(", %d could not be reproduced", s.Unknown)
		}
		parts = append(parts, text)
	}
	if s.Inputs > 0 {
		parts = append(parts, fmt.Sprintf("%s made the simulated machine, and %d came out of it within %s, which repeats nothing",
			words.Count(s.Inputs, "more number"), s.InputsFound, quantity.Percent(margin)))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// row is the summary as a row of the page's table.
func (s Summary) row(name string) []string {
	count := func(part, all int) string {
		if all == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d", part, all)
	}
	return []string{name, count(s.Within, s.Values), quantity.Percent(s.Off), fmt.Sprint(s.Missing + s.Unknown), count(s.Hold, s.Bounds), fmt.Sprint(s.Inputs)}
}

// summaryHead names the columns of row.
func summaryHead() []string {
	return []string{"source", "numbers within " + quantity.Percent(margin), "median difference", "not reproduced", "bounds that hold", "inputs"}
}
