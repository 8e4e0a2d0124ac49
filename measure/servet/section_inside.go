package servet

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// insideValue is the place of the value in insideColumns.
const insideValue = 2

// insideColumns are those of a row, which is a value of one rank. The value has a name with its unit. To is the other
// rank of a pair, or the rank itself.
func insideColumns(value string) []string {
	return []string{"part", "bytes", value, record.ColumnRepetition, record.ColumnFrom, record.ColumnTo}
}

// valueOf is the column of the values of a kind, "" of kinds that are none.
func valueOf(kind string) string {
	return map[string]string{KindMemory: "bandwidth_Bps", KindCache: "access_s"}[kind]
}

// insideSettings are those of a section of what is inside hosts.
type insideSettings struct {
	Bytes int     `json:"bytes"`
	Hosts [][]int `json:"hosts"` // ranks, by core
}

// Section is the result as files keep it: all values.
func (r *InsideResult) Section() *record.Section {
	s := &record.Section{
		Kind: r.Kind, Columns: insideColumns(valueOf(r.Kind)), Settings: record.SettingsOf(insideSettings{r.Bytes, r.hosts}),
		Warnings: slices.Clone(r.Warnings), Stopped: r.Stopped,
	}
	keys := slices.SortedFunc(maps.Keys(r.values), func(a, b stress) int {
		return cmp.Or(a.part-b.part, a.bytes-b.bytes, a.rank-b.rank, a.peer-b.peer)
	})
	for _, k := range keys {
		for repetition, value := range r.values[k] {
			s.Rows = append(s.Rows, float64(k.part), float64(k.bytes), value, float64(repetition), float64(k.rank), float64(k.peer))
		}
	}
	s.Rounds, s.TotalRounds = s.NumRows(), s.NumRows()
	return s
}

// InsideFromSection is the result of Memory or Caches that a section holds; of several runs that were merged, that of all
// repetitions. It refuses sections of other kinds and numbers that cannot be.
func InsideFromSection(s *record.Section) (*InsideResult, error) {
	r := &InsideResult{Kind: s.Kind, Stopped: s.Stopped, Warnings: slices.Clone(s.Warnings), values: make(values)}
	if err := r.read(s); err != nil {
		return nil, fmt.Errorf("servet: section %q: %w", s.Kind, err)
	}
	r.conclude() // the warnings are those of the section
	return r, nil
}

// read takes the values of a section.
func (r *InsideResult) read(s *record.Section) error {
	value := valueOf(s.Kind)
	if value == "" {
		return fmt.Errorf("want %q or %q", KindMemory, KindCache)
	}
	var settings insideSettings
	rows, err := s.Decode(s.Kind, &settings, insideColumns(value)...)
	if err != nil {
		return err
	}
	if settings.Bytes < 1 || settings.Bytes > maxBytes {
		return fmt.Errorf("%d bytes: want in [1, %d]", settings.Bytes, maxBytes)
	}
	ranks := slices.Sorted(slices.Values(slices.Concat(settings.Hosts...)))
	for i, rank := range ranks {
		if rank != i {
			return fmt.Errorf("hosts %v: want each rank once", settings.Hosts)
		}
	}
	if slices.ContainsFunc(settings.Hosts, func(own []int) bool { return len(own) == 0 }) {
		return errors.New("a host without ranks")
	}
	r.Bytes, r.hosts = settings.Bytes, settings.Hosts
	for i, row := range rows {
		for column, x := range row {
			if column != insideValue && !(x >= 0 && x <= math.MaxInt32 && x == math.Trunc(x)) {
				return fmt.Errorf("row %d: %g: want a whole number in [0, %d]", i, x, math.MaxInt32)
			}
		}
		k := stress{int(row[0]), int(row[1]), int(row[4]), int(row[5])}
		if k.part >= numParts || max(k.rank, k.peer) >= len(ranks) || !(row[insideValue] > 0) {
			return fmt.Errorf("row %d: %v: want a part below %d, ranks below %d, a positive value", i, row, numParts, len(ranks))
		}
		r.values[k] = append(r.values[k], row[insideValue])
	}
	return nil
}
