package bcast

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// A Report is the outcome of Benchmark.
type Report struct {
	Ranks int
	Root  int
	Rows  []Row // by size and variant, as they were asked for

	// ClockDoubt is the largest error in s that the difference between two
	// ranks' clocks may add to a time: half of the narrowest bounds that
	// messages gave for it. 0: the ranks share a clock, that of their host, which
	// they read alike to about 0.1 us.
	ClockDoubt float64
}

// A Row is one variant at one size.
type Row struct {
	Bytes    int     // length of the message
	Variant  string  // "ours", "native", or the name of an algorithm
	Median   float64 // s, of the slowest rank, over the repetitions
	Min, Max float64 // s
	Verified bool    // every byte was right on every rank in every repetition
	Plan     Plan    // what ran
}

// Write writes the report as JSON of the format "topocast/bcast-benchmark",
// version 1.
func (r *Report) Write(w io.Writer) error {
	type row struct {
		Bytes    int     `json:"bytes"`
		Variant  string  `json:"variant"`
		Median   float64 `json:"median_s"`
		Min      float64 `json:"min_s"`
		Max      float64 `json:"max_s"`
		Verified bool    `json:"verified"`
	}
	file := struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Ranks   int    `json:"ranks"`
		Root    int    `json:"root"`
		Rows    []row  `json:"rows"`
	}{"topocast/bcast-benchmark", 1, r.Ranks, r.Root, make([]row, 0, len(r.Rows))}
	for _, x := range r.Rows {
		file.Rows = append(file.Rows, row{x.Bytes, x.Variant, x.Median, x.Min, x.Max, x.Verified})
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("bcast: write report: %w", err)
	}
	return nil
}

// WriteText writes the report as a table for people.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "bytes\tvariant\tmedian\tmin\tmax\tplan\n")
	for _, x := range r.Rows {
		plan := x.Plan.how()
		if !x.Verified {
			plan = "WRONG DATA: " + plan
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", x.Bytes, x.Variant, seconds(x.Median), seconds(x.Min), seconds(x.Max), plan)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("bcast: write report: %w", err)
	}
	if r.ClockDoubt > 0 {
		if _, err := fmt.Fprintf(w, "clocks of the ranks agree within %s\n", seconds(r.ClockDoubt)); err != nil {
			return fmt.Errorf("bcast: write report: %w", err)
		}
	}
	return nil
}

// seconds is a time with the unit that reads best.
func seconds(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g us", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}
