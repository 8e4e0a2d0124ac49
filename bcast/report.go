package bcast

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
)

// A Report is the outcome of Benchmark.
type Report struct {
	Ranks int
	Root  int
	Rows  []Row // by size and variant, as they were asked for

	// Stopped says that a context ended before all was timed: sizes, variants
	// and repetitions are missing.
	Stopped bool

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
	Count    int     // timed repetitions
	Verified bool    // every byte was right on every rank in every repetition
	Plan     Plan    // what ran
}

// Write writes the report as JSON of the format "topocast/bcast-benchmark",
// version 1.
func (r *Report) Write(w io.Writer) error {
	type row struct {
		Bytes     int      `json:"bytes"`
		Variant   string   `json:"variant"`
		Median    float64  `json:"median_s"`
		Min       float64  `json:"min_s"`
		Max       float64  `json:"max_s"`
		Count     int      `json:"count"`
		Verified  bool     `json:"verified"`
		Algorithm string   `json:"algorithm"`        // that of the plan
		Shapes    []string `json:"shapes,omitempty"` // of multilevel, outermost first
		Segment   int      `json:"segment_bytes"`    // 0: the whole message
		Predicted *float64 `json:"predicted_s,omitempty"`
	}
	file := struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Ranks   int    `json:"ranks"`
		Root    int    `json:"root"`
		Stopped bool   `json:"stopped,omitempty"`
		Rows    []row  `json:"rows"`
	}{"topocast/bcast-benchmark", 1, r.Ranks, r.Root, r.Stopped, make([]row, 0, len(r.Rows))}
	for _, x := range r.Rows {
		out := row{
			Bytes: x.Bytes, Variant: x.Variant, Median: x.Median, Min: x.Min, Max: x.Max, Count: x.Count,
			Verified: x.Verified, Algorithm: x.Plan.Name(), Segment: x.Plan.Segment, Predicted: jsonfile.Known(x.Plan.Predicted),
		}
		if a, ok := x.Plan.Algorithm.(MultiLevel); ok {
			for depth := range max(1, len(a.Shapes)) {
				out.Shapes = append(out.Shapes, a.shape(depth).String())
			}
		}
		file.Rows = append(file.Rows, out)
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
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", x.Bytes, x.Variant, quantity.Seconds(x.Median), quantity.Seconds(x.Min), quantity.Seconds(x.Max), plan)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("bcast: write report: %w", err)
	}
	if r.Stopped {
		if _, err := fmt.Fprintln(w, "stopped before all was timed"); err != nil {
			return fmt.Errorf("bcast: write report: %w", err)
		}
	}
	if r.ClockDoubt > 0 {
		if _, err := fmt.Fprintf(w, "clocks of the ranks agree within %s\n", quantity.Seconds(r.ClockDoubt)); err != nil {
			return fmt.Errorf("bcast: write report: %w", err)
		}
	}
	return nil
}
