package concurrent

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
)

// Kind is that of a Section.
const Kind = "concurrent"

// The columns of a section besides those of record. A row is a transfer; the
// numbers of its pattern stand in each row of it.
const (
	columnPattern = iota
	columnBytes
	columnMean
	columnMedian
	columnMin
	columnMax
	columnHalfWidth
	columnCount
	columnIterations
	columnConverged // 0 or 1
	columnSerial    // 0 or 1
	columnSkew
	columnClockError
)

func columns() []string {
	return []string{
		"pattern", "bytes", "mean_s", "median_s", "min_s", "max_s", "half_width_s", "count",
		"iterations", "converged", "serial", "skew_s", "clock_error_s",
		record.ColumnRepetition, record.ColumnFrom, record.ColumnTo,
	}
}

// Section is the result as files keep it.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: Kind, Columns: columns(), Warnings: slices.Clone(r.Warnings),
		Rounds: len(r.Patterns), TotalRounds: r.Planned, Stopped: r.Stopped,
	}
	flag := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	for i := range r.Patterns {
		p := &r.Patterns[i]
		for k, t := range p.Transfers {
			x := &p.Times[k]
			s.Rows = append(s.Rows,
				float64(i), float64(t.Bytes), x.Mean, x.Median, x.Min, x.Max, x.HalfWidth, float64(x.Count),
				float64(p.Iterations), flag(p.Converged), flag(p.Serial), p.Skew, p.ClockError,
				0, float64(t.Src), float64(t.Dst))
		}
	}
	return s
}

// FromSection is the result that a section holds; of several runs that were
// merged, with the patterns of all. It refuses sections of another kind and
// numbers that cannot be; ranks are not known to it.
func FromSection(s *record.Section) (*Result, error) {
	if s.Kind != Kind {
		return nil, fmt.Errorf("concurrent: section of kind %q: want %q", s.Kind, Kind)
	}
	at, err := s.Need(columns()...)
	if err != nil {
		return nil, fmt.Errorf("concurrent: %w", err)
	}
	of := struct{ repetition, from, to int }{at[len(at)-3], at[len(at)-2], at[len(at)-1]}
	r := &Result{Planned: s.TotalRounds, Stopped: s.Stopped, Warnings: slices.Clone(s.Warnings)}
	last := [2]float64{-1, -1}
	for k := range s.NumRows() {
		row := s.Rows[k*len(s.Columns) : (k+1)*len(s.Columns)]
		for _, c := range []int{at[columnPattern], at[columnBytes], at[columnCount], at[columnIterations], of.repetition, of.from, of.to} {
			if x := row[c]; !(x >= 0 && x <= math.MaxInt32) || x != math.Trunc(x) {
				return nil, fmt.Errorf("concurrent: row %d: %s is %g: want a whole number in [0, %d]", k, s.Columns[c], x, math.MaxInt32)
			}
		}
		t := model.Transfer{Src: int(row[of.from]), Dst: int(row[of.to]), Bytes: int64(row[at[columnBytes]])}
		if t.Src == t.Dst || t.Bytes == 0 {
			return nil, fmt.Errorf("concurrent: row %d: %v: want two different ranks and at least 1 byte", k, t)
		}
		if of := [2]float64{row[of.repetition], row[at[columnPattern]]}; of != last {
			last = of
			r.Patterns = append(r.Patterns, Pattern{
				Iterations: int(row[at[columnIterations]]), Converged: row[at[columnConverged]] == 1, Serial: row[at[columnSerial]] == 1,
				Skew: row[at[columnSkew]], ClockError: row[at[columnClockError]],
			})
		}
		p := &r.Patterns[len(r.Patterns)-1]
		p.Transfers = append(p.Transfers, t)
		p.Times = append(p.Times, Time{
			Mean: row[at[columnMean]], Median: row[at[columnMedian]], Min: row[at[columnMin]], Max: row[at[columnMax]],
			HalfWidth: row[at[columnHalfWidth]], Count: int(row[at[columnCount]]),
		})
	}
	return r, nil
}
