package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

// KindLatency is the kind of the section that latencies are in. Its columns are
// the whole numbers of a Reading, then its times in s.
const KindLatency = "latency"

// columns name the numbers of a measurement.
func columns() []string {
	place := []string{record.ColumnRepetition, record.ColumnSize, record.ColumnFrom, record.ColumnTo, record.ColumnRound}
	return append(place, summaryColumns[:]...)
}

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

// section is the section of the result, without readings.
func (r *Result) section() *record.Section {
	settings, err := json.Marshal(sectionSettings{r.Repetitions, r.Samples, r.Seed, r.WithinGroups, r.OneByOne, r.schedule})
	if err != nil {
		panic("measure: settings are no JSON: " + err.Error()) // they are numbers and words only
	}
	s := &record.Section{
		Kind: KindLatency, Sizes: r.Sizes, Columns: columns(), Settings: settings,
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
	s.Rows = make([]float64, 0, len(r.readings)*allColumns)
	for i := range r.readings {
		s.Rows = r.readings[i].appendRow(s.Rows)
	}
	return s
}

// appendRow appends the numbers of the reading.
func (r *Reading) appendRow(row []float64) []float64 {
	row = append(row, float64(r.Repetition), float64(r.Size), float64(r.From), float64(r.To), float64(r.Round))
	return appendSummary(row, &r.Summary)
}

// A rowReader makes readings of the rows of a section.
type rowReader struct {
	settings sectionSettings
	names    []string // of the columns
	at       []int    // where the section has them
	limits   [intColumns][2]int
}

// newRowReader looks for the columns by their names, and checks the settings.
func newRowReader(s *record.Section, ranks int) (*rowReader, error) {
	r := rowReader{names: columns()}
	if s.Settings != nil {
		if err := jsonfile.Decode(strings.NewReader(string(s.Settings)), &r.settings); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
	}
	var err error
	if r.at, err = s.Need(r.names...); err != nil {
		return nil, err
	}
	t := Settings{Sizes: s.Sizes, Sampling: Sampling{Repetitions: r.settings.Repetitions, Samples: r.settings.Samples}}
	switch {
	case len(s.Sizes) == 0:
		return nil, fmt.Errorf("sizes_bytes: none")
	case t.Repetitions < 1 || t.Samples < 1:
		return nil, fmt.Errorf("repetitions, samples: %d, %d: want at least 1", t.Repetitions, t.Samples)
	}
	if err := t.validate(ranks); err != nil {
		return nil, err
	}
	r.limits = [intColumns][2]int{
		{0, harness.MaxRepetitions - 1}, // more may have followed than were asked for
		{0, len(s.Sizes) - 1},
		{0, ranks - 1},
		{0, ranks - 1},
		{0, math.MaxInt32},
		{1, t.Samples},
		{1, pingpong.MaxBatch},
		{1, pingpong.MaxLots},
		{0, 1},
	}
	return &r, nil
}

// reading makes a reading of a row, and checks it.
func (r *rowReader) reading(row []float64) (Reading, error) {
	var v [allColumns]float64
	for k, at := range r.at {
		v[k] = row[at]
	}
	for k, limit := range r.limits {
		if x := v[k]; !(x >= float64(limit[0]) && x <= float64(limit[1])) || x != math.Trunc(x) {
			return Reading{}, fmt.Errorf("%s: %g: want a whole number in [%d, %d]", r.names[k], x, limit[0], limit[1])
		}
	}
	last := 0.0
	for k := intColumns; k < timeColumns; k++ {
		if !(v[k] >= last) {
			return Reading{}, fmt.Errorf("%s: %g: want at least %g", r.names[k], v[k], last)
		}
		last = v[k]
	}
	if mean := v[timeColumns]; mean < v[intColumns] || mean > last {
		return Reading{}, fmt.Errorf("%s: %g: want in [%g, %g]", r.names[timeColumns], mean, v[intColumns], last)
	}
	x := Reading{Repetition: int(v[0]), Size: int(v[1]), From: int(v[2]), To: int(v[3]), Round: int(v[4]), Summary: summaryOf(v[placeColumns:])}
	if x.From == x.To {
		return Reading{}, fmt.Errorf("from rank %d to itself", x.From)
	}
	return x, nil
}

// result is what the section says besides its rows.
func (r *rowReader) result(h record.Header, s *record.Section, readings []Reading) (*Result, error) {
	result := &Result{
		Header: h, Sizes: s.Sizes, Repetitions: r.settings.Repetitions, Samples: r.settings.Samples, Seed: r.settings.Seed,
		WithinGroups: r.settings.WithinGroups, OneByOne: r.settings.OneByOne, schedule: r.settings.Schedule,
		Rounds: s.Rounds, TotalRounds: s.TotalRounds, Stopped: s.Stopped, Notes: s.Notes, Warnings: s.Warnings, Runs: s.Runs,
		readings: readings,
	}
	if s.Stopped != "" && s.Stopped != harness.StoppedByBudget && s.Stopped != harness.StoppedByContext {
		return nil, fmt.Errorf("stopped: %q: want %q, %q or nothing", s.Stopped, harness.StoppedByBudget, harness.StoppedByContext)
	}
	if len(result.Warnings) == 0 {
		result.Warnings = nil
	}
	slices.SortFunc(readings, compareReadings)
	for i := range readings {
		if i > 0 && compareReadings(readings[i-1], readings[i]) == 0 {
			return nil, fmt.Errorf("the measurement from %d to %d is there twice", readings[i].From, readings[i].To)
		}
		result.Repetitions = max(result.Repetitions, readings[i].Repetition+1)
	}
	if s.Unfinished {
		result.Stopped = harness.StoppedUnfinished
		result.Warnings = warnings(result)
	}
	return result, nil
}
