package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/encode"
)

// historyOptions are the flags of check that concern the file of earlier runs.
type historyOptions struct {
	file         string
	unit         encode.Unit
	matrices     []string
	measure      bool
	step, alarms float64
}

// historyFlags are of use with --history only.
var historyFlags = []string{"import", "measure", "step", "false-alarms", "unit"}

func (o *historyOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.file, "history", "", "file of the runs of this site, to which this one is appended; made if there is none")
	f.StringArrayVar(&o.matrices, "import", nil, "with --history, DATE=FILE, a matrix of latencies to append; may be given several times")
	unitFlag(f, &o.unit, "with --import, unit of a matrix: s, ms, us or ns")
	f.BoolVar(&o.measure, "measure", true, "with --history, measure a run")
	f.Float64Var(&o.step, "step", 0.05, "with --history, smallest change to look for, as a share")
	cli.Want(f, "step", "a share above 0, such as 0.05", func() bool { return o.step > 0 && o.step <= 10 })
	f.Float64Var(&o.alarms, "false-alarms", 0.01, "with --history, share of runs without a change in which anything may be told")
	cli.Want(f, "false-alarms", "0.0001 to 0.1", func() bool { return o.alarms >= 1e-4 && o.alarms <= 0.1 })
}

// follow appends a run to the history, or the matrices of --import, and prints what has changed.
func (o *checkOptions) follow(c *cobra.Command, shared *cli.Flags) error {
	h := &o.history
	switch {
	case len(h.matrices) == 0 && c.Flags().Changed("unit"):
		return cli.BadInput("--unit: only with --import")
	case len(h.matrices) > 0 && c.Flags().Changed("measure") && h.measure:
		return cli.BadInput("--measure and --import: want one of them")
	case len(h.matrices) > 0 || !h.measure:
		if err := cli.RefuseUnless(false, c, "nothing is measured here", "ranks", "size", "budget", "seed", "sim", "timeout"); err != nil {
			return err
		}
		if _, err := os.Stat(h.file); len(h.matrices) == 0 && err != nil {
			return cli.BadInput("--history: %w", err)
		}
		if err := h.append(c.ErrOrStderr()); err != nil {
			return err
		}
		return o.judge(c, shared)
	}
	lead := false
	err := shared.Run(c, func(comm mpi.Communicator) error {
		if comm.Rank() == 0 {
			lead = true
		}
		return o.take(c, comm, shared.Timeout)
	})
	if err != nil || !lead {
		return err
	}
	return o.judge(c, shared)
}

// runs reads the file; that there is none is no error.
func (h *historyOptions) runs(warn io.Writer) ([]check.Run, error) {
	f, err := os.Open(h.file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.BadInput("--history: %w", err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err == nil && info.IsDir():
		return nil, cli.BadInput("--history: %s is a directory: want a file", h.file)
	case err == nil && info.Mode()&fs.ModeCharDevice != 0:
		return nil, cli.BadInput("--history: %s is a device, want a file", h.file) // some never end
	}
	runs, lost, err := check.ReadRuns(f)
	if err != nil {
		return nil, cli.BadInput("%s: %w", h.file, err)
	}
	if lost > 0 {
		fmt.Fprintf(warn, "warning: %s: %s cut short or damaged, passed over\n", h.file, words.Count(lost, "line"))
	}
	// Matrices of older dates may be appended after newer runs.
	slices.SortStableFunc(runs, func(a, b check.Run) int { return a.Date.Compare(b.Date) })
	return runs, nil
}

// take samples the ranks and appends the run. It is collective.
func (o *checkOptions) take(c *cobra.Command, comm mpi.Communicator, timeout time.Duration) error {
	var before []check.Run
	err := onRankZero(comm, "earlier runs", func() (err error) {
		before, err = o.history.runs(io.Discard)
		return cmp.Or(err, o.history.writable())
	})
	if err != nil {
		return err
	}
	s, err := o.settings(comm, timeout)
	if err != nil {
		return err
	}
	sample, err := check.Sample(c.Context(), comm, s, before)
	if err != nil || comm.Rank() != 0 {
		return err
	}
	sample.Date = cli.Date(comm)
	if n := len(before); n > 0 && sample.Date.IsZero() && !before[n-1].Date.IsZero() {
		sample.Date = before[n-1].Date.AddDate(0, 0, 1) // simulated ranks have no clock, and the run is the newest
	}
	if err = check.AppendRun(o.history.file, *sample); err != nil { // the disk is full, say
		_, err = (&cli.Output{Flag: "--history", Path: o.history.file}).Elsewhere(err, sample.Write)
	}
	return err
}

// writable refuses a file to which no run can be appended, before one is measured for it.
func (h *historyOptions) writable() error {
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_APPEND, 0)
	if os.IsNotExist(err) {
		err = outfile.Check(h.file)
	} else if err == nil {
		err = f.Close()
	}
	if err != nil {
		return cli.BadInput("--history: %w", err)
	}
	return nil
}

// append takes over matrices, each before any is written. How each was understood goes to warn.
func (h *historyOptions) append(warn io.Writer) error {
	var runs []check.Run
	for _, text := range h.matrices {
		day, path, ok := strings.Cut(text, "=")
		at, err := parseDate(day)
		if !ok || err != nil {
			return cli.BadInput("--import %s: want DATE=FILE, such as 2026-11-01=latencies.csv", text)
		}
		run, err := matrixRun(path, h.unit, warn)
		if err != nil {
			return cli.BadInput("--import: %w", err)
		}
		run.Date = at
		runs = append(runs, *run)
	}
	for _, run := range runs {
		if err := check.AppendRun(h.file, run); err != nil {
			return cli.BadInput("%w", err)
		}
	}
	return nil
}

// parseDate reads a day, or a day and a time.
func parseDate(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, text)
}

// matrixRun makes a run of a matrix of latencies, and says to warn how the file was understood. Hosts without names have numbers.
func matrixRun(path string, unit encode.Unit, warn io.Writer) (*check.Run, error) {
	l, err := readAllLatencies([]string{path}, unit, nil)
	if err != nil {
		return nil, err
	}
	m := l.matrices[0]
	n, _ := m.Dims()
	names := l.distinctNames()
	if names == nil {
		names = each(inOrder(n), func(i int) string { return fmt.Sprintf("h%d", i) })
	}
	run := &check.Run{}
	for i := range n {
		for j := range n {
			if v := m.At(i, j); i != j && v > 0 && !math.IsInf(v, 1) {
				run.Points = append(run.Points, check.Point{From: names[i], To: names[j], Seconds: v})
			}
		}
	}
	if len(run.Points) == 0 {
		return nil, fmt.Errorf("%s: holds no times between two hosts", path)
	}
	l.sayMeasurements(warn)
	writeWarnings(warn, "", l.warnings)
	return run, nil
}

// judge prints the changes.
func (o *checkOptions) judge(c *cobra.Command, shared *cli.Flags) error {
	runs, err := o.history.runs(c.ErrOrStderr())
	if err != nil {
		return err
	}
	s := &check.WatchSettings{Step: o.history.step, FalseAlarms: o.history.alarms}
	if o.known != nil {
		side, err := newSide(o.network, o.known)
		if err != nil {
			return err
		}
		s.Graph, s.Routing = side.Graph, o.known.Settings().Routing
	}
	found, err := check.Watch(runs, s)
	if err != nil {
		return cli.BadInput("%s: %w", o.history.file, err)
	}
	out := changesOf(found, runs)
	changed := slices.ContainsFunc(out.Changes, isNewest)
	if !o.all {
		out.Changes = slices.DeleteFunc(out.Changes, func(c results.Change) bool { return !isNewest(c) })
	}
	status := cli.StatusFine
	switch {
	case changed:
		status = cli.StatusDifferent
	case found.Samples == 0:
		status = cli.StatusUnknown
	}
	return answer(show(c, shared, func(w io.Writer) { tellChanges(w, out, o.all) }, out), status)
}

// dateOf is the date of a run as a report has it; simulated ones have none.
func dateOf(runs []check.Run, i int) string {
	switch at := runs[i].Date; {
	case at.IsZero():
		return fmt.Sprintf("run %d", i+1)
	case at.Equal(at.Truncate(24 * time.Hour)):
		return at.Format(time.DateOnly)
	default:
		return at.Format(time.RFC3339)
	}
}

// mostPairs is how many pairs are printed of one run. Where a host or a link changes, all of its pairs do.
const mostPairs = 10

// changesOf is what was found in the runs, as programs get it. Text is made of it, too.
func changesOf(r *check.WatchResult, runs []check.Run) *results.Changes {
	return &results.Changes{Runs: len(runs), Series: r.Series, Samples: r.Samples, Changes: each(r.Changes, func(c check.Change) results.Change {
		kind := ofShort
		if c.Long {
			kind = ofLong
		}
		return results.Change{
			Name: c.Name, Kind: kind, Told: dateOf(runs, c.Run), Since: dateOf(runs, c.Since), Newest: c.Run == len(runs)-1,
			Factor: c.Factor, Strength: c.Strength, Pairs: c.Pairs,
		}
	})}
}

// The kinds of changes.
const (
	ofShort = "latency"
	ofLong  = "long"
)

func isNewest(c results.Change) bool { return c.Newest }

// tellChanges writes for people.
func tellChanges(w io.Writer, r *results.Changes, all bool) {
	fmt.Fprintf(w, "%s, %d series, %d samples judged\n", words.Count(r.Runs, "run"), r.Series, r.Samples)
	switch {
	case r.Samples == 0:
		fmt.Fprintln(w, "too few runs to tell changes: a series needs 9")
		return
	case len(r.Changes) == 0 && all:
		fmt.Fprintln(w, "no run tells a change")
	case len(r.Changes) == 0:
		fmt.Fprintln(w, "the newest run tells no change")
	}
	pairs, last := 0, ""
	for i, c := range r.Changes {
		if c.Told != last {
			pairs, last = 0, c.Told
			fmt.Fprintf(w, "told by %s:\n", c.Told)
		}
		text := fmt.Sprintf("%.3g times as long since %s", c.Factor, c.Since)
		switch {
		case c.Pairs == 0: // the name has the kind
			pairs++
		case c.Kind == ofLong:
			text = fmt.Sprintf("long messages take %s, by %s", text, words.Count(c.Pairs, "pair"))
		default:
			text = fmt.Sprintf("short messages take %s, by %s", text, words.Count(c.Pairs, "pair"))
		}
		if c.Pairs > 0 || pairs <= mostPairs {
			fmt.Fprintf(w, "  %s: %s\n", c.Name, text)
		}
		if end := i == len(r.Changes)-1 || r.Changes[i+1].Told != c.Told; end && pairs > mostPairs {
			fmt.Fprintf(w, "  and %s\n", words.Count(pairs-mostPairs, "more pair"))
		}
	}
}
