package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/results"
)

// nothingMeasured is the error of a run that has measured nothing.
func nothingMeasured(f *record.File) error {
	why := ""
	for _, s := range f.Sections {
		if s.NumRows() > 0 {
			return nil
		}
		for _, warning := range s.Warnings {
			why = cmp.Or(why, s.Kind+": "+warning)
		}
	}
	if f.Ranks == 1 {
		return fmt.Errorf("nothing was measured: a single rank has nobody to talk to")
	}
	return fmt.Errorf("nothing was measured: %s", cmp.Or(why, "there was no time for the first round"))
}

// measuredResult is what was measured, as programs get it, and which ranks of a host share caches and paths to memory.
func measuredResult(f *record.File, file string, byHost bool) (out *results.Measured, shared []model.Resource, err error) {
	out = &results.Measured{File: file, Ranks: f.Ranks, Warnings: []string{}, Sections: []results.MeasuredSection{}}
	for _, s := range f.Sections {
		if s.Kind == measure.KindLatency {
			out.Rounds, out.TotalRounds, out.Measurements = s.Rounds, s.TotalRounds, s.NumRows()
		}
		if out.Stopped == "" {
			out.Stopped = string(s.Stopped)
		}
		out.Warnings = append(out.Warnings, s.Warnings...)
		section := results.MeasuredSection{Kind: s.Kind, Rows: s.NumRows(), Stopped: string(s.Stopped)}
		if s.Kind == servet.KindCache || s.Kind == servet.KindMemory {
			r, err := servet.InsideFromSection(s)
			if err != nil {
				return nil, nil, err
			}
			shared = append(shared, r.Resources...)
			for _, r := range r.Resources {
				groups := append([][]int{}, r.Groups...) // none is no null
				section.Resources = append(section.Resources, results.Resource{Kind: r.Kind.String(), Bytes: r.Bytes, Bandwidth: jsonfile.Known(r.Bandwidth), Groups: groups})
			}
		}
		if byHost {
			section.Hosts = hostPairs(f, s)
		}
		out.Sections = append(out.Sections, section)
	}
	return out, shared, nil
}

// tellMeasured writes for people.
func tellMeasured(w, stderr io.Writer, m *results.Measured, shared []model.Resource) {
	writeWarnings(stderr, "", m.Warnings)
	fmt.Fprint(w, words.Count(m.Ranks, "rank"))
	for _, s := range m.Sections {
		if s.Kind == measure.KindLatency {
			fmt.Fprintf(w, ", %d of %d rounds, %s", m.Rounds, m.TotalRounds, words.Count(s.Rows, "measurement"))
		} else {
			fmt.Fprintf(w, ", %s: %s", s.Kind, words.Count(s.Rows, "row"))
		}
	}
	if m.File != "" {
		fmt.Fprintf(w, " written to %s", m.File)
	}
	fmt.Fprintln(w)
	tellResources(w, shared)
	for _, s := range m.Sections {
		for _, p := range s.Hosts {
			fmt.Fprintf(w, "%s: %s to %s", s.Kind, p.From, p.To)
			if p.Size >= 0 {
				fmt.Fprintf(w, ", %s", quantity.Bytes(p.Size))
			}
			fmt.Fprintf(w, ": %s (%s to %s, %s)\n", quantity.Seconds(p.Median), quantity.Seconds(p.Min), quantity.Seconds(p.Max), words.Count(p.Measurements, "measurement"))
		}
	}
}

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
			From: f.Hosts[k.from], To: f.Hosts[k.to], Size: k.size, Measurements: len(v),
			Min: slices.Min(v), Max: slices.Max(v), Median: stats.MiddleMedian(v),
		})
	}
	return all
}
