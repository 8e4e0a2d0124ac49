package main

import (
	"fmt"
	"strings"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/model/placement"
)

// show prints the table, times in ms.
func show(o *options, shape gridjob.Grid, table []*line, predicted *placement.Orientation) error {
	ms := gridjob.Milliseconds
	var b strings.Builder
	what := "C = A B by SUMMA"
	if o.trsm {
		what = "X U = B"
	}
	fmt.Fprintf(&b, "%s, %d x %d in panels of %d, %d x %d ranks; times in ms\n\n", what, o.n, o.n, o.panel, shape.Rows, shape.Cols)
	fmt.Fprintf(&b, "%-7s %-27s %8s %8s %8s %7s %9s\n", "ranks", "broadcast", "time", "communi.", "synchro.", "comput.", "predicted")
	for _, l := range table {
		m := gridjob.Medians(l.runs)
		l.split = split{m[0], m[1], m[2], m[3], m[4]}
		cost := l.predicted
		if predicted != nil && !isOurs(l.name) {
			cost = predicted.TimeByCols
			if l.grid.ByRows {
				cost = predicted.TimeByRows
			}
		}
		fmt.Fprintf(&b, "%-7s %-27s %8s %8s %8s %7s %9s\n", l.grid.Order(), l.name, ms(l.total), ms(l.communication), ms(l.synchronisation), ms(l.computation), ms(cost))
	}
	fmt.Fprintf(&b, `
The results are gonum's. Time is that of the slowest rank. Its shares are those
of another run, with a barrier before each broadcast that is not overlapped, and
are means; each is the median of %d. Predicted is communication: of binomial
broadcasts along all rows and then all columns at once, or of our plans, each
alone (where these leave it to the library, what that took in their contest).
%s
`, o.Repeat, verdict(table, predicted))
	_, err := fmt.Fprint(o.Out, b.String())
	return err
}

func isOurs(name string) bool { return strings.HasPrefix(name, alongWires) }

// verdict says whether the order that was predicted to be better is.
func verdict(table []*line, predicted *placement.Orientation) string {
	if predicted == nil {
		return "No order of ranks is predicted: there is no -network."
	}
	if gridjob.AreAlike(predicted.TimeByRows, predicted.TimeByCols) {
		return "Both orders of ranks are predicted to take as long."
	}
	text := fmt.Sprintf("Ranks %s were predicted to communicate less:", gridjob.Grid{ByRows: predicted.ByRows}.Order())
	for _, l := range table {
		for _, m := range table {
			if l.name == m.name && !l.overlap && l.grid.ByRows && !m.grid.ByRows {
				text += fmt.Sprintf("\n  %-18s %s", l.name, gridjob.Verdict(l.communication, m.communication, predicted.ByRows))
			}
		}
	}
	return text
}
