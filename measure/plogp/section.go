package plogp

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/measure/record"
)

// Kind is that of the section of a measurement's file that holds PLogP measurements.
const Kind = "plogp"

// Section is the result as a file keeps it: what each rank has found, row by
// row.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: Kind, Columns: columns, Settings: r.settings,
		Notes: r.Notes, Warnings: r.Warnings, Rounds: r.Rounds, TotalRounds: r.TotalRounds, Stopped: r.Stopped,
	}
	for _, pair := range r.measurements.pairs() {
		for _, p := range r.measurements[pair] {
			s.Rows = p.appendRow(append(s.Rows, float64(pair[0]), float64(pair[1])))
		}
	}
	return s
}

// FromSection makes the result of a section of the given number of ranks.
func FromSection(s *record.Section, ranks int) (*Result, error) {
	var p settings
	rows, err := s.Decode(Kind, &p, columns...)
	if err != nil {
		return nil, fmt.Errorf("plogp: %w", err)
	}
	found := make(measurements)
	for i, v := range rows {
		if err := check(v); err != nil {
			return nil, fmt.Errorf("plogp: row %d: %w", i, err)
		}
		if !found.add(int(v[0]), int(v[1]), pointOf(v[2:])) {
			return nil, fmt.Errorf("plogp: row %d: from %g to %g, %g bytes: is there twice", i, v[0], v[1], v[2])
		}
	}
	if !(p.CallCost >= 0) {
		return nil, fmt.Errorf("plogp: settings: call_cost_s: %g: want at least 0", p.CallCost)
	}
	r := &Result{Ranks: ranks, Stopped: s.Stopped, Notes: s.Notes, Rounds: s.Rounds, TotalRounds: s.TotalRounds, settings: s.Settings}
	r.take(found, &p)
	for i := range r.Pairs {
		if pair := &r.Pairs[i]; pair.Sizes[0] != 0 {
			return nil, fmt.Errorf("plogp: from %d to %d: no message of 0 bytes: want one, which tells the latency", pair.Src, pair.Dst)
		}
	}
	return r, nil
}

// check refuses numbers that no measurement has.
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
