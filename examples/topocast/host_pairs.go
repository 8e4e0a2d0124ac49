package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A HostPair sums up the readings from the ranks of one host to those of
// another, or of itself.
type HostPair struct {
	From, To string
	Size     int // B; -1 for a kind without sizes
	Readings int

	Min, Median, Max float64 // of the column, in its unit
}

// HostPairs sums up one column of a section by host pair and size, in the order
// of the hosts' first ranks, then of sizes. What was not measured is left out.
// O(rows).
func (f *File) HostPairs(s *Section, column string) ([]HostPair, error) {
	at, err := s.Need(ColumnFrom, ColumnTo, column)
	if err != nil {
		return nil, fmt.Errorf("record: by host pair: section %q: %w", s.Kind, err)
	}
	size := s.Column(ColumnSize)
	first := make(map[string]int)
	for rank, host := range f.Hosts {
		if _, ok := first[host]; !ok {
			first[host] = rank
		}
	}
	type key struct{ from, to, size int }
	values := make(map[key][]float64)
	for i := range s.NumRows() {
		row := s.Row(i)
		v := row[at[2]]
		if math.IsNaN(v) {
			continue
		}
		k := key{first[f.Hosts[int(row[at[0]])]], first[f.Hosts[int(row[at[1]])]], -1}
		if size >= 0 {
			k.size = s.Sizes[int(row[size])]
		}
		values[k] = append(values[k], v)
	}
	keys := make([]key, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.size, b.size))
	})
	all := make([]HostPair, 0, len(keys))
	for _, k := range keys {
		v := values[k]
		all = append(all, HostPair{
			From: f.Hosts[k.from], To: f.Hosts[k.to], Size: k.size, Readings: len(v),
			Min: slices.Min(v), Max: slices.Max(v), Median: stats.MiddleMedian(v),
		})
	}
	return all, nil
}
