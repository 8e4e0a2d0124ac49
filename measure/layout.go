package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/topocast/topocast/measure/pingpong"
)

const (
	fileFormat  = "topocast/measurement"
	fileVersion = 2
)

// fileColumns name the numbers of a reading. Version 1 had no lots and nothing
// unsure.
var (
	fileColumns = [...]string{
		"repetition", "size", "from", "to", "round", "count", "batch", "lots", "unsure", "min_s", "q1_s", "median_s", "q3_s", "max_s",
	}
	fileColumns1 = slices.Concat(fileColumns[:7], fileColumns[9:])
)

// header is the layout of a file, but for the readings.
type header struct {
	Format       string     `json:"format"`
	Version      int        `json:"version"`
	Ranks        int        `json:"ranks"`
	Sizes        []int      `json:"sizes_bytes"`
	Repetitions  int        `json:"repetitions"`
	Samples      int        `json:"samples"`
	Seed         uint64     `json:"seed"`
	WithinGroups bool       `json:"within_groups,omitempty"`
	OneByOne     bool       `json:"alone,omitempty"`
	Rounds       int        `json:"rounds"`
	TotalRounds  int        `json:"total_rounds"`
	Stopped      string     `json:"stopped,omitempty"`
	Date         *time.Time `json:"date,omitempty"`
	Library      string     `json:"library,omitempty"`
	Timed        bool       `json:"timed"`
	GoVersion    string     `json:"go_version"`
	Topocast     string     `json:"topocast_version,omitempty"`
	Platform     string     `json:"platform"`
	ClockStep    float64    `json:"clock_step_s"`
	ClockCost    float64    `json:"clock_cost_s"`
	Hosts        []string   `json:"hosts"`
	Cores        []int      `json:"cores"`
	CPUs         []int      `json:"cpus"`
	GOMAXPROCS   []int      `json:"gomaxprocs"`
	CrowdedHosts []string   `json:"crowded_hosts,omitempty"`
	Notes        []string   `json:"notes,omitempty"`
	Warnings     []string   `json:"warnings"`
	Columns      []string   `json:"columns"`
}

type file struct {
	header
	Readings [][]float64 `json:"readings"`
}

func (r *Result) header() header {
	h := header{
		Format: fileFormat, Version: fileVersion,
		Ranks: r.Ranks, Sizes: r.Sizes, Repetitions: r.Repetitions, Samples: r.Samples, Seed: r.Seed, WithinGroups: r.WithinGroups, OneByOne: r.OneByOne,
		Rounds: r.Rounds, TotalRounds: r.TotalRounds, Stopped: r.Stopped,
		Library: r.Library, Timed: r.Timed, GoVersion: r.GoVersion, Topocast: r.Version, Platform: r.Platform,
		ClockStep: r.ClockStep, ClockCost: r.ClockCost, Hosts: r.Hosts, Cores: r.Cores, CPUs: r.CPUs, GOMAXPROCS: r.GOMAXPROCS,
		CrowdedHosts: r.CrowdedHosts, Notes: r.Notes, Warnings: r.Warnings, Columns: fileColumns[:],
	}
	if h.Warnings == nil {
		h.Warnings = []string{}
	}
	if !r.Date.IsZero() {
		h.Date = &r.Date
	}
	return h
}

// appendRow writes the numbers of a reading, in brackets.
func appendRow(line []byte, x *Reading) []byte {
	line = append(line, '[')
	for _, v := range []int{x.Repetition, x.Size, x.From, x.To, x.Round, x.Count, x.Batch, x.Lots, x.unsure()} {
		line = append(strconv.AppendInt(line, int64(v), 10), ',')
	}
	for _, t := range []float64{x.Min, x.Q1, x.Median, x.Q3, x.Max} {
		line = append(strconv.AppendFloat(line, t, 'g', -1, 64), ',')
	}
	line[len(line)-1] = ']'
	return line
}

// result is the result without readings.
func (f *file) result() *Result {
	result := &Result{
		Ranks: f.Ranks, Sizes: f.Sizes, Repetitions: f.Repetitions, Samples: f.Samples, Seed: f.Seed, WithinGroups: f.WithinGroups, OneByOne: f.OneByOne,
		Rounds: f.Rounds, TotalRounds: f.TotalRounds, Stopped: f.Stopped,
		Library: f.Library, Timed: f.Timed, GoVersion: f.GoVersion, Version: f.Topocast, Platform: f.Platform,
		ClockStep: f.ClockStep, ClockCost: f.ClockCost, Hosts: f.Hosts, Cores: f.Cores, CPUs: f.CPUs, GOMAXPROCS: f.GOMAXPROCS,
		CrowdedHosts: f.CrowdedHosts, Notes: f.Notes, Warnings: f.Warnings,
	}
	if len(result.Warnings) == 0 {
		result.Warnings = nil
	}
	if f.Date != nil {
		result.Date = *f.Date
	}
	return result
}

// columns are those of the file's version.
func (f *file) columns() []string {
	if f.Version == 1 {
		return fileColumns1
	}
	return fileColumns[:]
}

func (f *file) check() error {
	switch {
	case f.Ranks < 1:
		return fmt.Errorf("ranks: %d: want at least 1", f.Ranks)
	case len(f.Hosts) != f.Ranks || len(f.Cores) != f.Ranks || len(f.CPUs) != f.Ranks || len(f.GOMAXPROCS) != f.Ranks:
		return fmt.Errorf("hosts, cores, cpus, gomaxprocs: %d, %d, %d, %d entries: want one for each of %d ranks",
			len(f.Hosts), len(f.Cores), len(f.CPUs), len(f.GOMAXPROCS), f.Ranks)
	case len(f.Sizes) == 0:
		return fmt.Errorf("sizes_bytes: none")
	case f.Repetitions < 1 || f.Samples < 1:
		return fmt.Errorf("repetitions, samples: %d, %d: want at least 1", f.Repetitions, f.Samples)
	case f.Rounds < 0 || f.TotalRounds < f.Rounds:
		return fmt.Errorf("rounds: %d of %d", f.Rounds, f.TotalRounds)
	case f.Stopped != "" && f.Stopped != StoppedByBudget && f.Stopped != StoppedByContext && f.Stopped != StoppedUnfinished:
		return fmt.Errorf("stopped: %q: want %q, %q, %q or nothing", f.Stopped, StoppedByBudget, StoppedByContext, StoppedUnfinished)
	case f.ClockStep < 0 || f.ClockCost < 0:
		return fmt.Errorf("clock_step_s, clock_cost_s: %g, %g: want at least 0", f.ClockStep, f.ClockCost)
	case !slices.Equal(f.Columns, f.columns()):
		return fmt.Errorf("columns: %q: want %q", f.Columns, f.columns())
	}
	s := Settings{Sizes: f.Sizes, Repetitions: f.Repetitions, Samples: f.Samples}
	return s.validate(f.Ranks)
}

// reading checks one line.
func (f *file) reading(row []float64) (Reading, error) {
	if len(row) != len(f.columns()) {
		return Reading{}, fmt.Errorf("%d numbers: want %d", len(row), len(f.columns()))
	}
	if f.Version == 1 {
		row = slices.Concat(row[:7], []float64{1, 0}, row[7:])
	}
	const intColumns = 9
	limits := [intColumns][2]int{
		{0, f.Repetitions - 1},
		{0, len(f.Sizes) - 1},
		{0, f.Ranks - 1},
		{0, f.Ranks - 1},
		{0, math.MaxInt32},
		{1, f.Samples},
		{1, pingpong.MaxBatch},
		{1, pingpong.MaxLots},
		{0, 1},
	}
	var ints [intColumns]int
	for k, limit := range limits {
		if !(row[k] >= float64(limit[0]) && row[k] <= float64(limit[1])) || row[k] != math.Trunc(row[k]) {
			return Reading{}, fmt.Errorf("%s: %g: want a whole number in [%d, %d]", fileColumns[k], row[k], limit[0], limit[1])
		}
		ints[k] = int(row[k])
	}
	last := 0.0
	for k := intColumns; k < len(row); k++ {
		if row[k] < last {
			return Reading{}, fmt.Errorf("%s: %g: want at least %g", fileColumns[k], row[k], last)
		}
		last = row[k]
	}
	x := Reading{
		Repetition: ints[0], Size: ints[1], From: ints[2], To: ints[3], Round: ints[4],
		Summary: pingpong.Summary{
			Count: ints[5], Batch: ints[6], Lots: ints[7], Unsure: ints[8] == 1,
			Min: row[9], Q1: row[10], Median: row[11], Q3: row[12], Max: row[13],
		},
	}
	if x.From == x.To {
		return Reading{}, fmt.Errorf("from rank %d to itself", x.From)
	}
	return x, nil
}
