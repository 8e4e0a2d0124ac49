package plogp

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/record"
)

// Kind is that of the section of a measurement's file that holds PLogP readings.
const Kind = "plogp"

// Section is the result as a file keeps it: what each rank has found, row by
// row.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: Kind, Columns: columns, Settings: r.settings,
		Notes: r.Notes, Warnings: r.Warnings, Rounds: r.Rounds, TotalRounds: r.TotalRounds, Stopped: r.Stopped,
	}
	for _, x := range r.sides {
		for _, p := range x.points {
			s.Rows = p.appendRow(append(s.Rows, float64(x.from), float64(x.to)))
		}
	}
	return s
}

// FromSection makes the result of a section of the given number of ranks.
func FromSection(s *record.Section, ranks int) (*Result, error) {
	if s.Kind != Kind {
		return nil, fmt.Errorf("plogp: section of kind %q: want %q", s.Kind, Kind)
	}
	at, err := s.Need(columns...)
	if err != nil {
		return nil, fmt.Errorf("plogp: %w", err)
	}
	var found sides
	values := make([]float64, len(at))
	type reading struct{ from, to, bytes float64 }
	seen := make(map[reading]bool)
	for i := range s.NumRows() {
		row := s.Row(i)
		for k, column := range at {
			values[k] = row[column]
		}
		if err := check(values); err != nil {
			return nil, fmt.Errorf("plogp: row %d: %w", i, err)
		}
		if x := (reading{values[0], values[1], values[2]}); seen[x] {
			return nil, fmt.Errorf("plogp: row %d: from %g to %g, %g bytes: is there twice", i, x.from, x.to, x.bytes)
		} else {
			seen[x] = true
		}
		found.add(int(values[0]), int(values[1]), pointOf(values[2:]))
	}
	var p settings
	if len(s.Settings) > 0 {
		if err := jsonfile.Unmarshal(s.Settings, &p); err != nil {
			return nil, fmt.Errorf("plogp: settings: %w", err)
		}
	}
	if !(p.CallCost >= 0) {
		return nil, fmt.Errorf("plogp: settings: call_cost_s: %g: want at least 0", p.CallCost)
	}
	r := newResult(ranks, found.all, p.CallCost)
	r.Stopped, r.Rounds, r.TotalRounds, r.Notes, r.settings = s.Stopped, s.Rounds, s.TotalRounds, s.Notes, json.RawMessage(s.Settings)
	return r, nil
}

// check refuses numbers that no reading has.
func check(values []float64) error {
	if values[0] == values[1] {
		return fmt.Errorf("from rank %g to itself", values[0])
	}
	if m := values[2]; !(m >= 0 && m <= longest) || m != math.Trunc(m) {
		return fmt.Errorf("bytes: %g: want a whole number in [0, %d]", m, longest)
	}
	for k := 3; k < len(values); k++ {
		// A gap follows from differences, and noise can take it below 0.
		if columns[k] != "gap_s" && !(values[k] >= 0) || math.IsNaN(values[k]) {
			return fmt.Errorf("%s: %g: want at least 0", columns[k], values[k])
		}
	}
	return nil
}
