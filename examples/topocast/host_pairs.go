package main

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model/results"
)

// summed is the column by which pairs of hosts are summed up: the first of these that
// a section has; -1 if it has none.
func summed(s *record.Section) int {
	for _, name := range []string{"q1_s", "median_s", "seconds_s"} {
		if at := s.Column(name); at >= 0 {
			return at
		}
	}
	return -1
}

// hostPairs sums up a section, if it is of times between ranks, by host pair and size: in the order
// of the hosts' first ranks, then of sizes. What was not measured is left out. O(rows).
func hostPairs(f *record.File, s *record.Section) (all []results.HostPair) {
	column, from, to, size := summed(s), s.Column(record.ColumnFrom), s.Column(record.ColumnTo), s.Column(record.ColumnSize)
	if min(column, from, to) < 0 {
		return nil
	}
	first := make(map[string]int)
	for rank, host := range slices.Backward(f.Hosts) {
		first[host] = rank
	}
	type key struct{ from, to, size int }
	values := make(map[key][]float64)
	for i := range s.NumRows() {
		row := s.Row(i)
		if math.IsNaN(row[column]) {
			continue
		}
		k := key{first[f.Hosts[int(row[from])]], first[f.Hosts[int(row[to])]], -1}
		if size >= 0 {
			k.size = s.Sizes[int(row[size])]
		}
		values[k] = append(values[k], row[column])
	}
	for _, k := range slices.SortedFunc(maps.Keys(values), func(a, b key) int {
		return cmp.Or(a.from-b.from, a.to-b.to, a.size-b.size)
	}) {
		v := values[k]
		all = append(all, results.HostPair{
			From: f.Hosts[k.from], To: f.Hosts[k.to], Size: k.size, Readings: len(v),
			Min: slices.Min(v), Max: slices.Max(v), Median: stats.MiddleMedian(v),
		})
	}
	return all
}
