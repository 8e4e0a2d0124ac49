package oneway

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
)

// Kind is that of the section of a measurement's file that holds one-way times.
const Kind = "oneway"

// sectionColumns are those of a trip.
var sectionColumns = append([]string{record.ColumnRepetition, record.ColumnFrom, record.ColumnTo}, columns...)

// Section is the result as a file keeps it: the times as they were stamped.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: Kind, Columns: sectionColumns, Settings: record.SettingsOf(&r.plan),
		Notes: r.Notes, Warnings: r.Warnings, Rounds: r.Rounds, TotalRounds: r.TotalRounds, Stopped: r.Stopped,
	}
	for _, t := range r.trips {
		s.Rows = append(s.Rows, float64(t.repetition), float64(t.from), float64(t.to), t.at, t.there, t.back)
	}
	return s
}

// FromSection makes the result of a section of the given number of ranks. It works out the directions again.
func FromSection(s *record.Section, ranks int) (*Result, error) {
	if s.Kind != Kind {
		return nil, fmt.Errorf("oneway: section of kind %q: want %q", s.Kind, Kind)
	}
	at, err := s.Need(sectionColumns...)
	if err != nil {
		return nil, fmt.Errorf("oneway: %w", err)
	}
	var p plan
	if s.Settings != nil {
		if err := jsonfile.Unmarshal(s.Settings, &p); err != nil {
			return nil, fmt.Errorf("oneway: settings: %w", err)
		}
	}
	seen := make(map[[3]int]bool)
	trips := make([]trip, s.NumRows())
	for i := range trips {
		row := s.Row(i)
		v := func(k int) float64 { return row[at[k]] }
		t := trip{int(v(1)), int(v(2)), int(v(0)), v(3), v(4), v(5)}
		key := [3]int{t.repetition, t.from, t.to}
		switch {
		case t.from >= t.to || t.repetition >= harness.MaxRepetitions || seen[key]:
			return nil, fmt.Errorf("oneway: row %d: repetition %d from %d to %d: want each pair once, the lower rank first", i, t.repetition, t.from, t.to)
		case !(t.half() > 0) || math.IsInf(t.half(), 0) || math.IsNaN(t.at) || math.IsInf(t.at, 0):
			return nil, fmt.Errorf("oneway: row %d: %g, %g and %g s: want a round trip above 0", i, t.at, t.there, t.back)
		}
		seen[key] = true
		trips[i] = t
	}
	r := newResult(ranks, p, trips)
	r.Stopped, r.Rounds, r.TotalRounds = s.Stopped, s.Rounds, s.TotalRounds
	return r, nil
}
