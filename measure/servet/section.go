package servet

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
)

// The kinds of sections, besides WhatDistance and WhatAccess.
const (
	KindMemory = "memory"
	KindCache  = "cache"
)

// The columns of WhatDistance and WhatAccess. A row is a message of one repetition.
const (
	columnAt = iota
	columnHosts
	columnSeconds
	columnRepetition
	columnFrom
	columnTo
)

func ringColumns() []string {
	return []string{"at", "hosts", "seconds_s", record.ColumnRepetition, record.ColumnFrom, record.ColumnTo}
}

// ringSettings are those of a section of messages.
type ringSettings struct {
	Bytes       int      `json:"bytes"`
	Hosts       []string `json:"hosts"` // in the order of the ring
	Repetitions int      `json:"repetitions"`
}

// Section is the result as files keep it: all times.
func (r *Result) Section() *record.Section {
	s := &record.Section{
		Kind: r.What, Columns: ringColumns(), Sizes: []int{r.Bytes}, Warnings: slices.Clone(r.Warnings), Stopped: r.Stopped,
		Settings: settingsOf(ringSettings{r.Bytes, r.Hosts, r.Repetitions}), TotalRounds: r.Repetitions * len(r.Steps),
	}
	for i := range r.Steps {
		step := &r.Steps[i]
		s.Rounds += len(step.Bandwidths)
		for k, t := range step.Transfers {
			for repetition, seconds := range step.times[k] {
				if !math.IsNaN(seconds) {
					s.Rows = append(s.Rows, float64(step.At), float64(step.Hosts), seconds, float64(repetition), float64(t.Src), float64(t.Dst))
				}
			}
		}
	}
	return s
}

// settingsOf is what cannot fail to be JSON.
func settingsOf(settings any) json.RawMessage {
	data, err := json.Marshal(settings)
	if err != nil {
		panic("servet: settings: " + err.Error())
	}
	return data
}

// FromSection is the result of Distance or Access that a section holds; of several runs that were merged, with the
// repetitions of all. Steps of which nothing was measured are left out. It refuses sections of other kinds and numbers that cannot
// be.
func FromSection(s *record.Section) (*Result, error) {
	if s.Kind != WhatDistance && s.Kind != WhatAccess {
		return nil, fmt.Errorf("servet: section of kind %q: want %q or %q", s.Kind, WhatDistance, WhatAccess)
	}
	var settings ringSettings
	at, err := openSection(s, ringColumns(), &settings)
	if err != nil {
		return nil, err
	}
	if settings.Bytes < 1 || settings.Repetitions < 1 || settings.Repetitions > maxRepetitions {
		return nil, fmt.Errorf("servet: section %q: %d bytes, %d repetitions: want at least 1, and at most %d repetitions", s.Kind, settings.Bytes, settings.Repetitions, maxRepetitions)
	}
	r := &Result{
		What: s.Kind, Bytes: settings.Bytes, Hosts: settings.Hosts, Repetitions: settings.Repetitions,
		Stopped: s.Stopped, Warnings: slices.Clone(s.Warnings),
	}
	steps, messages := make(map[int]int), make(map[[3]int]int)
	for k := range s.NumRows() {
		row := s.Row(k)
		whole, err := wholes(row, at, columnAt, columnHosts, columnRepetition, columnFrom, columnTo)
		if err != nil {
			return nil, fmt.Errorf("servet: section %q: row %d: %w", s.Kind, k, err)
		}
		seconds := row[at[columnSeconds]]
		repetition, from, to := whole[2], whole[3], whole[4]
		if whole[0] < 1 || !(seconds > 0) || repetition >= r.Repetitions || from == to {
			return nil, fmt.Errorf("servet: section %q: row %d: %v: want a positive place and time, a repetition below %d, and two ranks", s.Kind, k, row, r.Repetitions)
		}
		i, known := steps[whole[0]]
		if !known {
			i = len(r.Steps)
			steps[whole[0]] = i
			r.Steps = append(r.Steps, Step{At: whole[0], Hosts: whole[1]})
		}
		step := &r.Steps[i]
		message, known := messages[[3]int{i, from, to}]
		if !known {
			message = len(step.Transfers)
			messages[[3]int{i, from, to}] = message
			step.Transfers = append(step.Transfers, model.Transfer{Src: from, Dst: to, Bytes: int64(r.Bytes)})
			step.times = append(step.times, slices.Repeat([]float64{math.NaN()}, r.Repetitions))
		}
		step.times[message][repetition] = seconds
	}
	for i := range r.Steps {
		r.Steps[i].summarise(r.Repetitions)
	}
	return r, nil
}

// openSection finds the columns of a section and reads its settings.
func openSection(s *record.Section, columns []string, settings any) (at []int, err error) {
	if at, err = s.Need(columns...); err != nil {
		return nil, fmt.Errorf("servet: section %q: %w", s.Kind, err)
	}
	if err = jsonfile.Unmarshal(s.Settings, settings); err != nil {
		return nil, fmt.Errorf("servet: section %q: settings: %w", s.Kind, err)
	}
	return at, nil
}

// wholes are the whole numbers of some columns of a row.
func wholes(row []float64, at []int, columns ...int) ([]int, error) {
	all := make([]int, len(columns))
	for i, c := range columns {
		x := row[at[c]]
		if !(x >= 0 && x <= math.MaxInt32) || x != math.Trunc(x) {
			return nil, fmt.Errorf("%g: want a whole number in [0, %d]", x, math.MaxInt32)
		}
		all[i] = int(x)
	}
	return all, nil
}
