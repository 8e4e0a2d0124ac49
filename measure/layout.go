package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

// KindLatency is the kind of the section that latencies are in. Its columns are
// the whole numbers of a Measurement, then its times in s.
const KindLatency = "latency"

// columns name the numbers of a measurement.
var columns = append([]string{record.ColumnRepetition, record.ColumnSize, record.ColumnFrom, record.ColumnTo, record.ColumnRound}, summaryColumns[:]...)

const (
	placeColumns = 5                // that come first
	intColumns   = placeColumns + 4 // whole numbers
	timeColumns  = intColumns + 5   // and times in ascending order; the mean follows
	allColumns   = placeColumns + len(summaryColumns)
)

// sectionSettings are those of a section of latencies.
type sectionSettings struct {
	Repetitions  int    `json:"repetitions"`
	Samples      int    `json:"samples"`
	Seed         uint64 `json:"seed"`
	WithinGroups bool   `json:"within_groups,omitempty"`
	OneByOne     bool   `json:"alone,omitempty"`
	Schedule     string `json:"schedule,omitempty"` // another than that of all pairs
}

// section is the section of the result, without measurements.
func (r *Result) section() *record.Section {
	settings := record.SettingsOf(sectionSettings{r.Repetitions, r.Samples, r.Seed, r.WithinGroups, r.OneByOne, r.schedule})
	s := &record.Section{
		Kind: KindLatency, Sizes: r.Sizes, Columns: columns, Settings: settings,
		Notes: r.Notes, Warnings: r.Warnings, Rounds: r.Rounds, TotalRounds: r.TotalRounds, Stopped: r.Stopped, Runs: r.Runs,
	}
	if s.Stopped == harness.StoppedUnfinished {
		// Whoever reads it finds the warnings himself.
		s.Stopped, s.Warnings, s.Unfinished = "", nil, true
	}
	return s
}

// Section is the result as a section of a file, see record.File.
func (r *Result) Section() *record.Section {
	s := r.section()
	s.Rows = make([]float64, 0, len(r.measurements)*allColumns)
	for i := range r.measurements {
		s.Rows = r.measurements[i].appendRow(s.Rows)
	}
	return s
}

// appendRow appends the numbers of the measurement.
func (r *Measurement) appendRow(row []float64) []float64 {
	row = append(row, float64(r.Repetition), float64(r.Size), float64(r.From), float64(r.To), float64(r.Round))
	return appendSummary(row, &r.Summary)
}

// resultOf is the result that a section of a file holds. It refuses what Run could not have returned.
func resultOf(f *record.File, s *record.Section) (*Result, error) {
	var settings sectionSettings
	rows, err := s.Decode(KindLatency, &settings, columns...)
	if err != nil {
		return nil, err
	}
	t := Settings{Sizes: s.Sizes, Sampling: Sampling{Repetitions: settings.Repetitions, Samples: settings.Samples}}
	switch {
	case len(s.Sizes) == 0:
		return nil, fmt.Errorf("sizes_bytes: none")
	case t.Repetitions < 1 || t.Samples < 1:
		return nil, fmt.Errorf("repetitions, samples: %d, %d: want at least 1", t.Repetitions, t.Samples)
	case s.Stopped != "" && s.Stopped != harness.StoppedByBudget && s.Stopped != harness.StoppedByContext:
		return nil, fmt.Errorf("stopped: %q: want %q, %q or nothing", s.Stopped, harness.StoppedByBudget, harness.StoppedByContext)
	}
	if err := t.validate(f.Ranks); err != nil {
		return nil, err
	}
	r := &Result{
		Header: f.Header, Sizes: s.Sizes, Repetitions: settings.Repetitions, Samples: settings.Samples, Seed: settings.Seed,
		WithinGroups: settings.WithinGroups, OneByOne: settings.OneByOne, schedule: settings.Schedule,
		Rounds: s.Rounds, TotalRounds: s.TotalRounds, Stopped: s.Stopped, Notes: s.Notes, Runs: s.Runs,
	}
	if len(s.Warnings) > 0 {
		r.Warnings = s.Warnings
	}
	limits := [intColumns][2]int{
		{0, harness.MaxRepetitions - 1}, // more may have followed than were asked for
		{0, len(s.Sizes) - 1},
		{0, f.Ranks - 1},
		{0, f.Ranks - 1},
		{0, math.MaxInt32},
		{1, t.Samples},
		{1, pingpong.MaxBatch},
		{1, pingpong.MaxLots},
		{0, 1},
	}
	r.measurements = slices.Grow(r.measurements, s.NumRows())
	for i, row := range rows {
		x, err := measurement(row, limits)
		if err != nil {
			return nil, fmt.Errorf("measurement %d: %w", i+1, err)
		}
		r.measurements = append(r.measurements, x)
		r.Repetitions = max(r.Repetitions, x.Repetition+1)
	}
	slices.SortFunc(r.measurements, compareMeasurements)
	for i := 1; i < len(r.measurements); i++ {
		if x := r.measurements[i]; compareMeasurements(r.measurements[i-1], x) == 0 {
			return nil, fmt.Errorf("the measurement from %d to %d is there twice", x.From, x.To)
		}
	}
	if s.Unfinished {
		r.Stopped = harness.StoppedUnfinished
		r.Warnings = warnings(r)
	}
	return r, nil
}

// measurement makes a measurement of the numbers of the columns, and checks them, the whole ones against their limits.
func measurement(v []float64, limits [intColumns][2]int) (Measurement, error) {
	for k, limit := range limits {
		if x := v[k]; !(x >= float64(limit[0]) && x <= float64(limit[1])) || x != math.Trunc(x) {
			return Measurement{}, fmt.Errorf("%s: %g: want a whole number in [%d, %d]", columns[k], x, limit[0], limit[1])
		}
	}
	last := 0.0
	for k := intColumns; k < timeColumns; k++ {
		if !(v[k] >= last) {
			return Measurement{}, fmt.Errorf("%s: %g: want at least %g", columns[k], v[k], last)
		}
		last = v[k]
	}
	if mean := v[timeColumns]; mean < v[intColumns] || mean > last {
		return Measurement{}, fmt.Errorf("%s: %g: want in [%g, %g]", columns[timeColumns], mean, v[intColumns], last)
	}
	x := Measurement{Repetition: int(v[0]), Size: int(v[1]), From: int(v[2]), To: int(v[3]), Round: int(v[4]), Summary: summaryOf(v[placeColumns:])}
	if x.From == x.To {
		return Measurement{}, fmt.Errorf("from rank %d to itself", x.From)
	}
	return x, nil
}
