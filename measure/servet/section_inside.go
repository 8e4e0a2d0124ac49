package servet

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
)

// The columns of KindMemory and KindCache. A row is a value of one rank.
const (
	insidePart = iota
	insideBytes
	insideValue
	insideRepetition
	insideFrom // the rank
	insideTo   // the other one of a pair, or itself
)

// insideColumns are the columns; the value has a name with its unit.
func insideColumns(value string) []string {
	return []string{"part", "bytes", value, record.ColumnRepetition, record.ColumnFrom, record.ColumnTo}
}

const (
	memoryValue = "bandwidth_Bps"
	cacheValue  = "access_s"
)

// insideSettings are those of a section of what is inside hosts.
type insideSettings struct {
	Bytes int     `json:"bytes"`
	Hosts [][]int `json:"hosts"` // ranks, by core
}

// Section is the result as files keep it: all values.
func (r *MemoryResult) Section() *record.Section {
	return sectionInside(KindMemory, memoryValue, insideSettings{r.Bytes, r.hosts}, r.readings, r.Warnings, r.Stopped)
}

// Section is the result as files keep it: all values.
func (r *CacheResult) Section() *record.Section {
	return sectionInside(KindCache, cacheValue, insideSettings{r.Largest, r.hosts}, r.readings, r.Warnings, r.Stopped)
}

func sectionInside(kind, value string, settings insideSettings, all readings, warnings []string, stopped harness.Stopped) *record.Section {
	s := &record.Section{
		Kind: kind, Columns: insideColumns(value), Settings: record.SettingsOf(settings), Warnings: slices.Clone(warnings), Stopped: stopped,
		Rounds: len(all), TotalRounds: len(all),
	}
	for _, x := range all {
		s.Rows = append(s.Rows, float64(x.part), float64(x.bytes), x.value, float64(x.repetition), float64(x.rank), float64(x.other))
	}
	return s
}

// MemoryFromSection is the result of Memory that a section holds; of several runs that were merged, that of all
// repetitions. It refuses sections of other kinds and numbers that cannot be.
func MemoryFromSection(s *record.Section) (*MemoryResult, error) {
	settings, all, err := insideFromSection(s, KindMemory, memoryValue)
	if err != nil {
		return nil, err
	}
	r := &MemoryResult{Bytes: settings.Bytes, Stopped: s.Stopped, Warnings: slices.Clone(s.Warnings), hosts: settings.Hosts, readings: all}
	r.take() // the warnings are those of the section
	return r, nil
}

// CachesFromSection is the result of Caches that a section holds, as MemoryFromSection.
func CachesFromSection(s *record.Section) (*CacheResult, error) {
	settings, all, err := insideFromSection(s, KindCache, cacheValue)
	if err != nil {
		return nil, err
	}
	r := &CacheResult{
		Sizes: setSizes(settings.Bytes), Largest: settings.Bytes, Stopped: s.Stopped, Warnings: slices.Clone(s.Warnings),
		hosts: settings.Hosts, readings: all,
	}
	r.take()
	return r, nil
}

func insideFromSection(s *record.Section, kind, value string) (*insideSettings, readings, error) {
	if s.Kind != kind {
		return nil, nil, fmt.Errorf("servet: section of kind %q: want %q", s.Kind, kind)
	}
	at, err := s.Need(insideColumns(value)...)
	if err != nil {
		return nil, nil, fmt.Errorf("servet: section %q: %w", kind, err)
	}
	var settings insideSettings
	if err := jsonfile.Unmarshal(s.Settings, &settings); err != nil {
		return nil, nil, fmt.Errorf("servet: section %q: settings: %w", kind, err)
	}
	if settings.Bytes < 1 || settings.Bytes > maxBytes {
		return nil, nil, fmt.Errorf("servet: section %q: %d bytes: want in [1, %d]", kind, settings.Bytes, maxBytes)
	}
	ranks := slices.Sorted(slices.Values(slices.Concat(settings.Hosts...)))
	for i, rank := range ranks {
		if rank != i {
			return nil, nil, fmt.Errorf("servet: section %q: hosts %v: want each rank once", kind, settings.Hosts)
		}
	}
	if slices.ContainsFunc(settings.Hosts, func(own []int) bool { return len(own) == 0 }) {
		return nil, nil, fmt.Errorf("servet: section %q: a host without ranks", kind)
	}
	var all readings
	for k := range s.NumRows() {
		row := s.Row(k)
		whole, err := wholes(row, at, insidePart, insideBytes, insideRepetition, insideFrom, insideTo)
		if err != nil {
			return nil, nil, fmt.Errorf("servet: section %q: row %d: %w", kind, k, err)
		}
		x := reading{whole[2], key{whole[0], whole[1], whole[3], whole[4]}, row[at[insideValue]]}
		if x.part >= numParts || max(x.rank, x.other) >= len(ranks) || !(x.value > 0) {
			return nil, nil, fmt.Errorf("servet: section %q: row %d: %v: want a part below %d, ranks below %d, a positive value", kind, k, row, numParts, len(ranks))
		}
		all = append(all, x)
	}
	return &settings, all, nil
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
