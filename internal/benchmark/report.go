package benchmark

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/quantity"
)

// A Report is the outcome of Run.
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
	file := struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Ranks   int    `json:"ranks"`
		Root    int    `json:"root"`
		Conditions
		Stopped bool             `json:"stopped,omitempty"`
		Rows    []map[string]any `json:"rows"`
	}{format, version, r.Ranks, r.Root, r.Conditions, r.Stopped, []map[string]any{}}
	for i := range r.Rows {
		row := make(map[string]any)
		for _, c := range r.Rows[i].columns() {
			if c.isKnown() {
				row[c.name] = c.value
			}
		}
		file.Rows = append(file.Rows, row)
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("benchmark: write report: %w", err)
	}
	return nil
}

// WriteCSV writes the rows as a table for programs, all times in s, with a head of names. What is
// not known is empty.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	names := []string{"ranks", "root"}
	for _, column := range new(Row).columns() {
		names = append(names, column.name)
	}
	records := [][]string{names}
	for i := range r.Rows {
		record := []string{strconv.Itoa(r.Ranks), strconv.Itoa(r.Root)}
		for _, column := range r.Rows[i].columns() {
			text := ""
			if column.isKnown() {
				text = fmt.Sprint(column.value)
			}
			record = append(record, text)
		}
		records = append(records, record)
	}
	if err := c.WriteAll(records); err != nil {
		return fmt.Errorf("benchmark: write report: %w", err)
	}
	return nil
}

// undershoot is the ratio to the lower bound below which a median shows that the network is another one. Clocks
// and fits are off by some percent.
const undershoot = 0.8

// misfit reports whether broadcasts were faster than the network allows, so that its bound is none. Between hosts the network is
// then another one. Within a host a broadcast may read what is in a cache or shared, and a measured message did not.
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
	var notes []string
	if misfit {
		why := "it does not describe these ranks"
		if r.Hosts == 1 {
			why = "on one host they are copies in memory, which caches make faster than the messages that were measured"
		}
		notes = append(notes, "broadcasts were faster than the network allows: "+why+", so there is no column \"of bound\"")
	}
	if r.Stopped {
		notes = append(notes, "stopped before all was timed")
	}
	if r.ClockDoubt > 0 {
		notes = append(notes, "clocks of the ranks agree within "+quantity.Seconds(r.ClockDoubt))
	}
	t.Flush()
	for _, note := range notes {
		fmt.Fprintln(w, note)
	}
	return nil
}
