package concurrent

import (
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// Kind is that of a Section.
const Kind = "concurrent"

// Section is the result as files keep it. A row is a transfer; the numbers of its pattern stand in each row of it.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: Kind, Warnings: slices.Clone(r.Warnings), Rounds: len(r.Patterns), TotalRounds: r.Planned, Stopped: r.Stopped,
		Columns: []string{
			"pattern", "bytes", "mean_s", "median_s", "min_s", "max_s", "half_width_s", "count",
			"iterations", "converged", "serial", "skew_s", "clock_error_s",
			record.ColumnRepetition, record.ColumnFrom, record.ColumnTo,
		},
	}
	for i := range r.Patterns {
		p := &r.Patterns[i]
		for k, t := range p.Transfers {
			x := &p.Times[k]
			s.Rows = append(s.Rows,
				float64(i), float64(t.Bytes), x.Mean, x.Median, x.Min, x.Max, x.HalfWidth, float64(x.Count),
				float64(p.Iterations), record.Flag(p.Converged), record.Flag(p.Serial), p.Skew, p.ClockError,
				0, float64(t.Src), float64(t.Dst))
		}
	}
	return s
}
