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

// columns name the numbers of a reading.
var columns = [...]string{
	record.ColumnRepetition, record.ColumnSize, record.ColumnFrom, record.ColumnTo, record.ColumnRound,
	"count", "batch", "lots", "unsure", "min_s", "q1_s", "median_s", "q3_s", "max_s", "mean_s",
}

const (
	intColumns = 9                // that come first
	meanColumn = len(columns) - 1 // behind the times in ascending order
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
		Kind: KindLatency, Sizes: r.Sizes, Columns: slices.Clone(columns[:]), Settings: settings,
		Notes: r.Notes, Warnings: r.Warnings, Rounds: r.Rounds, TotalRounds: r.TotalRounds, Stopped: r.Stopped, Runs: r.Runs,
	}
	if s.Stopped == StoppedUnfinished {
		// Whoever reads it finds the warnings himself.
		s.Stopped, s.Warnings, s.Unfinished = "", nil, true
	}
	return s
}

// Section is the result as a section of a file, see record.File.
func (r *Result) Section() *record.Section {
	s := r.section()
	s.Rows = make([]float64, 0, len(r.readings)*len(columns))
	for i := range r.readings {
		s.Rows = r.readings[i].appendRow(s.Rows)
	}
	return s
}

// appendRow appends the numbers of the reading.
func (r *Reading) appendRow(row []float64) []float64 {
	for _, v := range [intColumns]int{r.Repetition, r.Size, r.From, r.To, r.Round, r.Count, r.Batch, r.Lots, r.unsure()} {
		row = append(row, float64(v))
	}
	return append(row, r.Min, r.Q1, r.Median, r.Q3, r.Max, r.Mean)
}

// A rowReader makes readings of the rows of a section.
type rowReader struct {
	settings sectionSettings
	at       [len(columns)]int // where the section has a column
	limits   [intColumns][2]int
}

// newRowReader looks for the columns by their names, and checks the settings.
func newRowReader(s *record.Section, ranks int) (*rowReader, error) {
	var r rowReader
	if s.Settings != nil {
		if err := jsonfile.Decode(strings.NewReader(string(s.Settings)), &r.settings); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
	}
	for i, name := range columns {
		if r.at[i] = s.Column(name); r.at[i] < 0 {
			return nil, fmt.Errorf("columns: %q: want %q among them", s.Columns, name)
		}
	}
	t := Settings{Sizes: s.Sizes, Repetitions: r.settings.Repetitions, Samples: r.settings.Samples}
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
	var ints [intColumns]int
	for k, limit := range r.limits {
		v := row[r.at[k]]
		if !(v >= float64(limit[0]) && v <= float64(limit[1])) || v != math.Trunc(v) {
			return Reading{}, fmt.Errorf("%s: %g: want a whole number in [%d, %d]", columns[k], v, limit[0], limit[1])
		}
		ints[k] = int(v)
	}
	var times [meanColumn - intColumns]float64
	last := 0.0
	for k := range times {
		v := row[r.at[intColumns+k]]
		if !(v >= last) {
			return Reading{}, fmt.Errorf("%s: %g: want at least %g", columns[intColumns+k], v, last)
		}
		times[k], last = v, v
	}
	mean := row[r.at[meanColumn]]
	if mean < times[0] || mean > times[len(times)-1] {
		return Reading{}, fmt.Errorf("%s: %g: want in [%g, %g]", columns[meanColumn], mean, times[0], times[len(times)-1])
	}
	x := Reading{
		Repetition: ints[0], Size: ints[1], From: ints[2], To: ints[3], Round: ints[4],
		Summary: pingpong.Summary{
			Count: ints[5], Batch: ints[6], Lots: ints[7], Unsure: ints[8] == 1,
			Min: times[0], Q1: times[1], Median: times[2], Q3: times[3], Max: times[4], Mean: mean,
		},
	}
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
		result.Stopped = StoppedUnfinished
		result.Warnings = warnings(result)
	}
	return result, nil
}
