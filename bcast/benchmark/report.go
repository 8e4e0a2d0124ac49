package benchmark

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
)

// A Report is the outcome of Benchmark.
type Report struct {
	Ranks int
	Root  int
	Rows  []Row // by size and variant, as they were asked for

	Conditions

	// Stopped says that a context ended before all was timed: sizes, variants
	// and repetitions are missing.
	Stopped bool

	// ClockDoubt is the largest error in s that the difference between two
	// ranks' clocks may add to a time: half of the narrowest bounds that
	// messages gave for it. 0: the ranks share a clock, that of their host, which
	// they read alike to about 0.1 us.
	ClockDoubt float64
}

// Write writes the report as JSON of the format "topocast/bcast-benchmark", version 2. Values
// that are not known are left out.
func (r *Report) Write(w io.Writer) error {
	type row struct {
		Bytes     int      `json:"bytes"`
		Variant   string   `json:"variant"`
		Median    float64  `json:"median_s"`
		Low       *float64 `json:"median_low_s,omitempty"` // of the interval of 95 %; left out: too few samples
		High      *float64 `json:"median_high_s,omitempty"`
		Mean      float64  `json:"mean_s"` // this and the next of those up to the 90th percentile
		Variance  *float64 `json:"variance_s2,omitempty"`
		Gain      *float64 `json:"gain,omitempty"` // over the library's own broadcast
		GainLow   *float64 `json:"gain_low,omitempty"`
		GainHigh  *float64 `json:"gain_high,omitempty"`
		Min       float64  `json:"min_s"`
		Max       float64  `json:"max_s"`
		Count     int      `json:"count"`
		Verified  bool     `json:"verified"`
		Algorithm string   `json:"algorithm"`          // that of the plan
		Topology  string   `json:"topology,omitempty"` // that it follows; left out: the one that was found, or none
		Shapes    []string `json:"shapes,omitempty"`   // of multilevel, outermost first
		Segment   int      `json:"segment_bytes"`      // 0: the whole message
		Blocking  bool     `json:"blocking,omitempty"`
		Predicted *float64 `json:"predicted_s,omitempty"`
		Bound     *float64 `json:"bound_s,omitempty"` // below which no broadcast gets
	}
	file := struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Ranks   int    `json:"ranks"`
		Root    int    `json:"root"`
		Conditions
		Stopped bool  `json:"stopped,omitempty"`
		Rows    []row `json:"rows"`
	}{"topocast/bcast-benchmark", 2, r.Ranks, r.Root, r.Conditions, r.Stopped, make([]row, 0, len(r.Rows))}
	for _, x := range r.Rows {
		out := row{
			Bytes: x.Bytes, Variant: x.Variant, Median: x.Median, Low: jsonfile.Known(x.Low), High: jsonfile.Known(x.High),
			Mean: x.Mean, Variance: jsonfile.Known(x.Variance),
			Gain: jsonfile.Known(x.Gain), GainLow: jsonfile.Known(x.GainLow), GainHigh: jsonfile.Known(x.GainHigh), Min: x.Min, Max: x.Max, Count: x.Count,
			Verified: x.Verified, Algorithm: x.Plan.Name(), Topology: x.Plan.Topology, Segment: x.Plan.Segment, Blocking: x.Plan.Blocking, Predicted: jsonfile.Known(x.Plan.Predicted), Bound: jsonfile.Known(x.Bound),
		}
		if a, ok := x.Plan.Algorithm.(schedule.MultiLevel); ok {
			shapes := a.Shapes
			if len(shapes) == 0 {
				shapes = []schedule.Shape{schedule.ShapeBinomial} // the default
			}
			for _, shape := range shapes {
				out.Shapes = append(out.Shapes, shape.String())
			}
		}
		file.Rows = append(file.Rows, out)
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("benchmark: write report: %w", err)
	}
	return nil
}

// undershoot is the ratio to the lower bound below which a median shows that the network is another one. Clocks
// and fits are off by some percent.
const undershoot = 0.8

// misfit tells whether broadcasts were faster than the network allows, so that it does not describe the ranks.
func (r *Report) misfit() bool {
	return slices.ContainsFunc(r.Rows, func(x Row) bool { return x.Median < undershoot*x.Bound })
}

// WriteText writes the report as a table for people.
func (r *Report) WriteText(w io.Writer) error {
	misfit := r.misfit()
	t := columns.New(w, "bytes", "variant", "median", "95 % of it", "min", "max", "gain", "of bound", "plan")
	for _, x := range r.Rows {
		plan := x.Plan.How()
		if !x.Verified {
			plan = "WRONG DATA: " + plan
		}
		interval, gain, bound := "too few samples", "", ""
		if !x.TooFew() {
			interval = quantity.Seconds(x.Low) + " to " + quantity.Seconds(x.High)
		}
		if !math.IsNaN(x.Gain) {
			gain = fmt.Sprintf("%.2f", x.Gain)
		}
		if x.Bound > 0 && !misfit {
			bound = fmt.Sprintf("%.2f", x.Median/x.Bound)
		}
		t.Row(x.Bytes, x.Variant, quantity.Seconds(x.Median), interval,
			quantity.Seconds(x.Min), quantity.Seconds(x.Max), gain, bound, plan)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("benchmark: write report: %w", err)
	}
	if misfit {
		if _, err := fmt.Fprintln(w, "broadcasts were faster than the network allows: it does not describe these ranks, so there is no column \"of bound\""); err != nil {
			return fmt.Errorf("benchmark: write report: %w", err)
		}
	}
	if r.Stopped {
		if _, err := fmt.Fprintln(w, "stopped before all was timed"); err != nil {
			return fmt.Errorf("benchmark: write report: %w", err)
		}
	}
	if r.ClockDoubt > 0 {
		if _, err := fmt.Fprintf(w, "clocks of the ranks agree within %s\n", quantity.Seconds(r.ClockDoubt)); err != nil {
			return fmt.Errorf("benchmark: write report: %w", err)
		}
	}
	return nil
}
