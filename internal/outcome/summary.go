package outcome

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
)

// A group is the kinds that share a table, and a column of the summary.
type group struct {
	first, last   Kind
	column, title string
}

// groups are all of them.
func groups() []group {
	return []group{
		{Measured, Measured, "measured", "Printed by the source, and measured by us under its conditions"},
		{Otherwise, Otherwise, "other conditions", "Printed by the source, and measured by us under other conditions"},
		{Computed, Computed, "computed", "Printed by the source, and computed from its own equations and tables"},
		{AtLeast, About, "bounds that hold", "Bounds that the source prints, and ours (about: within a quarter)"},
		{Input, Input, "inputs", "Inputs: printed by the source, by which the machine was made, and measured on it"},
	}
}

// has says that the group has the kind.
func (g *group) has(k Kind) bool { return g.first <= k && k <= g.last }

// count tells how many of some comparisons of a group hold, and the median difference of those that were reproduced. Of inputs
// it tells the number alone, as they repeat nothing.
func (g *group) count(compared []Comparison) string {
	all, hold := 0, 0
	var off []float64
	for _, c := range compared {
		if !g.has(c.Kind) {
			continue
		}
		all++
		if c.Holds() {
			hold++
		}
		if d := math.Abs(c.Off()); !math.IsNaN(d) {
			off = append(off, d)
		}
	}
	switch {
	case all == 0:
		return "-"
	case g.first == Input:
		return strconv.Itoa(all)
	case g.first.bound() || len(off) == 0:
		return fmt.Sprintf("%d of %d", hold, all)
	}
	return fmt.Sprintf("%d of %d, off by %s", hold, all, quantity.Percent(stats.MiddleMedian(off)))
}

// writeSummary writes a table of what outcomes compare with their sources, by kind. Several outcomes have a row for all of them
// together.
func writeSummary(w io.Writer, outcomes []*Outcome) {
	fmt.Fprintf(w, "\n## What repeats, by kind\n\nNumbers within %s of the printed ones, and how far ours are off in the median:\n\n", quantity.Percent(margin))
	t := &Table{Columns: []Column{Text("source")}}
	for _, g := range groups() {
		t.Columns = append(t.Columns, values(g.column))
	}
	t.Columns = append(t.Columns, values("not reproduced"))
	row := func(name string, compared []Comparison) {
		cells := []any{name}
		for _, g := range groups() {
			cells = append(cells, g.count(compared))
		}
		missing := 0
		for _, c := range compared {
			if math.IsNaN(c.Ours) {
				missing++
			}
		}
		t.Row(append(cells, strconv.Itoa(missing))...)
	}
	var all []Comparison
	for _, o := range outcomes {
		var compared []Comparison
		for _, s := range o.Sections {
			compared = append(compared, s.Compared...)
		}
		row(o.Name, compared)
		all = append(all, compared...)
	}
	if len(outcomes) > 1 {
		row("all", all)
	}
	t.write(w)
}
