package main

import (
	"fmt"
	"math"
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
		if predicted != nil && (l.name == blind || isNative(l.name) && math.IsNaN(l.predicted)) {
			l.predicted = predicted.TimeByCols
			if l.grid.ByRows {
				l.predicted = predicted.TimeByRows
			}
		}
		fmt.Fprintf(&b, "%-7s %-27s %8s %8s %8s %7s %9s\n", l.grid.Order(), l.name, ms(l.total), ms(l.communication), ms(l.synchronisation), ms(l.computation), ms(l.predicted))
	}
	fmt.Fprintf(&b, `
The results are gonum's. Time is that of the slowest rank. Its shares are those
of another run, with a barrier before each broadcast that is not overlapped, and
are means; each is the median of %d. Predicted is communication: what the
network says of our plans, each alone; what the library's own broadcasts took in
their contest with ours; binomial ones along all rows, then all columns at once.
%s
`, o.Repeat, verdict(table, predicted))
	_, err := fmt.Fprint(o.Out, b.String())
	return err
}

func isNative(name string) bool { return strings.HasPrefix(name, byLibrary) }

// verdict says for each kind of broadcast whether the order of ranks that was predicted to be better is better.
func verdict(table []*line, predicted *placement.Orientation) string {
	if predicted == nil {
		return "No order of ranks is predicted: there is no -network."
	}
	text := "The order of ranks that was predicted to communicate less:"
	for _, l := range table {
		for _, m := range table {
			if l.name != m.name || l.overlap || !l.grid.ByRows || m.grid.ByRows {
				continue
			}
			said := "none, as both take as long"
			switch byRows := l.predicted < m.predicted; {
			case math.IsNaN(l.predicted) || math.IsNaN(m.predicted):
				said = "none"
			case !gridjob.AreAlike(l.predicted, m.predicted):
				said = fmt.Sprintf("%s, %s", gridjob.Grid{ByRows: byRows}.Order(), gridjob.Verdict(l.communication, m.communication, byRows))
			}
			text += fmt.Sprintf("\n  %-18s %s", l.name, said)
		}
	}
	return text
}
