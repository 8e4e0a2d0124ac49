package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
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
			out.Rounds, out.TotalRounds, out.Readings = s.Rounds, s.TotalRounds, s.NumRows()
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
			fmt.Fprintf(w, ": %s (%s to %s, %s)\n", quantity.Seconds(p.Median), quantity.Seconds(p.Min), quantity.Seconds(p.Max), words.Count(p.Readings, "measurement"))
		}
	}
}
