package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/record"
)

// nothingMeasured is the error of a run that has no reading to show.
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

// summed is the column by which pairs of hosts are summed up: the first of these that
// a section has.
func summed(s *record.Section) string {
	for _, name := range []string{"q1_s", "median_s", "seconds_s"} {
		if s.Column(name) >= 0 {
			return name
		}
	}
	return ""
}

func tellMeasured(w, stderr io.Writer, f *record.File, file string, byHost bool) error {
	for _, s := range f.Sections {
		for _, warning := range s.Warnings {
			fmt.Fprintf(stderr, "warning: %s\n", warning)
		}
	}
	fmt.Fprint(w, words.Count(f.Ranks, "rank"))
	for _, s := range f.Sections {
		if s.Kind != measure.KindLatency {
			fmt.Fprintf(w, ", %s: %s", s.Kind, words.Count(s.NumRows(), "row"))
			continue
		}
		fmt.Fprintf(w, ", %d of %d rounds, %s", s.Rounds, s.TotalRounds, words.Count(s.NumRows(), "measurement"))
	}
	if file != "" {
		fmt.Fprintf(w, " written to %s", file)
	}
	fmt.Fprintln(w)
	if !byHost {
		return nil
	}
	for _, s := range f.Sections {
		pairs, err := hostPairs(f, s)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			fmt.Fprintf(w, "%s: %s to %s", s.Kind, p.From, p.To)
			if p.Size >= 0 {
				fmt.Fprintf(w, ", %s", quantity.Bytes(p.Size))
			}
			fmt.Fprintf(w, ": %s (%s to %s, %s)\n", quantity.Seconds(p.Median), quantity.Seconds(p.Min), quantity.Seconds(p.Max), words.Count(p.Readings, "measurement"))
		}
	}
	return nil
}

// hostPairs sums up a section, if it is of times between ranks.
func hostPairs(f *record.File, s *record.Section) ([]record.HostPair, error) {
	column := summed(s)
	if column == "" || s.Column(record.ColumnFrom) < 0 || s.Column(record.ColumnTo) < 0 {
		return nil, nil
	}
	return f.HostPairs(s, column)
}

// The layout of what --json prints; the readings are in the file.
type (
	measuredReport struct {
		Format      string            `json:"format"`
		Version     int               `json:"version"`
		File        string            `json:"readings_file"`
		Ranks       int               `json:"ranks"`
		Rounds      int               `json:"rounds"`       // of latencies
		TotalRounds int               `json:"total_rounds"` // of latencies
		Stopped     string            `json:"stopped,omitempty"`
		Readings    int               `json:"readings"` // of latencies
		Warnings    []string          `json:"warnings"`
		Sections    []measuredSection `json:"sections"`
	}
	measuredSection struct {
		Kind    string         `json:"kind"`
		Rows    int            `json:"rows"`
		Stopped string         `json:"stopped,omitempty"` // early, by "budget" or "context"
		Hosts   []measuredPair `json:"host_pairs,omitempty"`
	}
	measuredPair struct {
		From     string  `json:"from"`
		To       string  `json:"to"`
		Size     int     `json:"size_bytes"`
		Readings int     `json:"readings"`
		Min      float64 `json:"min_s"`
		Median   float64 `json:"median_s"`
		Max      float64 `json:"max_s"`
	}
)

// reportMeasured tells programs the same.
func reportMeasured(w io.Writer, f *record.File, file string, byHost bool) error {
	out := measuredReport{Format: "topocast/measured", Version: 1, File: file, Ranks: f.Ranks, Warnings: []string{}, Sections: []measuredSection{}}
	for _, s := range f.Sections {
		if s.Kind == measure.KindLatency {
			out.Rounds, out.TotalRounds, out.Readings = s.Rounds, s.TotalRounds, s.NumRows()
		}
		if out.Stopped == "" {
			out.Stopped = s.Stopped
		}
		out.Warnings = append(out.Warnings, s.Warnings...)
		section := measuredSection{Kind: s.Kind, Rows: s.NumRows(), Stopped: s.Stopped}
		if byHost {
			pairs, err := hostPairs(f, s)
			if err != nil {
				return err
			}
			for _, p := range pairs {
				section.Hosts = append(section.Hosts, measuredPair(p))
			}
		}
		out.Sections = append(out.Sections, section)
	}
	return json.NewEncoder(w).Encode(out)
}
