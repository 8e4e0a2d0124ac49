package adaptive

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// Kind is that of a Section.
const Kind = "adaptive"

const columnLatency = "latency_s"

func columns() []string {
	return []string{record.ColumnFrom, record.ColumnTo, record.ColumnRound, columnLatency}
}

// Section is the readings as files keep them, a row each. The wiring made of them has files of its own.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: Kind, Sizes: []int{r.Bytes}, Columns: columns(), Warnings: slices.Clone(r.Warnings),
		Rounds: r.Rounds, TotalRounds: r.Rounds, Stopped: r.Stopped,
	}
	for _, x := range r.Readings {
		s.Rows = append(s.Rows, float64(x.A), float64(x.B), float64(x.Round), float64(x.Latency))
	}
	return s
}

// FromSection is the readings that a section holds, without the wiring that was made of them: Topology is nil, and
// Hosts, which the section does not know, is as given. It refuses sections of another kind and numbers that
// cannot be.
func FromSection(s *record.Section, hosts int) (*Result, error) {
	if s.Kind != Kind {
		return nil, fmt.Errorf("adaptive: section of kind %q: want %q", s.Kind, Kind)
	}
	at, err := s.Need(columns()...)
	if err != nil {
		return nil, fmt.Errorf("adaptive: %w", err)
	}
	if len(s.Sizes) != 1 {
		return nil, fmt.Errorf("adaptive: sizes %v: want one", s.Sizes)
	}
	r := &Result{Hosts: hosts, Bytes: s.Sizes[0], Rounds: s.Rounds, Stopped: s.Stopped, Warnings: slices.Clone(s.Warnings)}
	for k := range s.NumRows() {
		row := s.Row(k)
		whole := func(column string, x float64, below int) error {
			if !(x >= 0 && x < float64(below)) || x != math.Trunc(x) {
				return fmt.Errorf("adaptive: row %d: %s is %g: want a whole number in [0, %d)", k, column, x, below)
			}
			return nil
		}
		a, b, round, latency := row[at[0]], row[at[1]], row[at[2]], row[at[3]]
		for i, below := range []int{hosts, hosts, math.MaxInt32} {
			if err := whole(s.Columns[at[i]], row[at[i]], below); err != nil {
				return nil, err
			}
		}
		if a == b || !(latency > 0) || math.IsInf(latency, 1) {
			return nil, fmt.Errorf("adaptive: row %d: %g s of %g and %g: want a latency of two ranks", k, latency, a, b)
		}
		r.Readings = append(r.Readings, Reading{Pair{int32(a), int32(b)}, int32(round), float32(latency)})
	}
	return r, nil
}
