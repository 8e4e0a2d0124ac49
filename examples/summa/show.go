package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/topocast/topocast/model/placement"
)

// show prints the table, times in ms.
func show(o *options, rows, cols int, table []line, predicted *placement.Orientation) error {
	var b strings.Builder
	what := "C = A B by SUMMA"
	if o.trsm {
		what = "X U = B"
	}
	fmt.Fprintf(&b, "%s, %d x %d in panels of %d, %d x %d ranks; times in ms\n\n", what, o.n, o.n, o.panel, rows, cols)
	fmt.Fprintf(&b, "%-8s %-21s %9s %9s %9s %9s %9s\n", "ranks", "broadcast", "time", "communic.", "synchron.", "comput.", "predicted")
	for _, l := range table {
		order, cost := "by cols", l.predicted
		if l.byRows {
			order = "by rows"
		}
		if predicted != nil && (l.name == byLibrary || l.name == blind) {
			cost = predicted.TimeByCols
			if l.byRows {
				cost = predicted.TimeByRows
			}
		}
		fmt.Fprintf(&b, "%-8s %-21s %9s %9s %9s %9s %9s\n", order, l.name, ms(l.total), ms(l.communication), ms(l.synchronisation), ms(l.computation), ms(cost))
	}
	fmt.Fprintf(&b, `
The results are gonum's. Time is that of the slowest rank, its shares are means,
and the median of %d counts. Predicted is communication: of binomial broadcasts
along all rows and then all columns at once, or of our plans, each alone.
%s
`, o.repeat, verdict(table, predicted))
	_, err := fmt.Fprint(o.out, b.String())
	return err
}

func ms(seconds float64) string {
	if math.IsNaN(seconds) {
		return "-"
	}
	return fmt.Sprintf("%.3f", 1e3*seconds)
}

// alike is how much two orders may differ for none to be called better.
const alike = 0.05

// verdict says whether the order that was predicted to be better is.
func verdict(table []line, predicted *placement.Orientation) string {
	if predicted == nil {
		return "No order of ranks is predicted: there is no -network."
	}
	byRows, byCols := predicted.TimeByRows, predicted.TimeByCols
	if math.Abs(byRows-byCols) <= alike*max(byRows, byCols) {
		return "Both orders of ranks are predicted to take as long."
	}
	order := "by columns"
	if predicted.ByRows {
		order = "by rows"
	}
	text := fmt.Sprintf("Ranks %s were predicted to communicate less:", order)
	for _, l := range table {
		for _, m := range table {
			if l.name != m.name || l.name == overlapped || !l.byRows || m.byRows {
				continue
			}
			rows, cols := l.communication, m.communication
			right := "wrong"
			switch {
			case math.Abs(rows-cols) <= alike*max(rows, cols):
				right = "both take as long"
			case (rows < cols) == predicted.ByRows:
				right = "right"
			}
			text += fmt.Sprintf("\n  %-18s %s", l.name, right)
		}
	}
	return text
}
