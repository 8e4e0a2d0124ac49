package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/encode"
)

// historyOptions are the flags of check that concern the file of earlier runs.
type historyOptions struct {
	file, unit   string
	matrices     []string
	measure      bool
	step, alarms float64
}

// historyFlags are of use with --history only.
var historyFlags = []string{"import", "measure", "step", "false-alarms", "unit"}

func (o *historyOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.file, "history", "", "file of the runs of this site, to which this one is appended; made if there is none")
	f.StringArrayVar(&o.matrices, "import", nil, "with --history, DATE=FILE, a matrix of latencies to append; may be given several times")
	f.StringVar(&o.unit, "unit", "", "with --import, unit of a matrix: s, ms, us or ns")
	f.BoolVar(&o.measure, "measure", true, "with --history, measure a run")
	f.Float64Var(&o.step, "step", 0.05, "with --history, smallest change to look for, as a share")
	f.Float64Var(&o.alarms, "false-alarms", 0.01, "with --history, share of runs without a change in which anything may be told")
}

// follow appends a run to the history, or the matrices of --import, and tells what has changed.
func (o *checkOptions) follow(c *cobra.Command, shared *cli.Flags) error {
	h := &o.history
	switch {
	case !(h.step > 0 && h.step <= 10):
		return cli.BadInput("--step %g: want a share above 0, such as 0.05", h.step)
	case !(h.alarms >= 1e-4 && h.alarms <= 0.1):
		return cli.BadInput("--false-alarms %g: want 0.0001 to 0.1", h.alarms)
	case len(h.matrices) == 0 && c.Flags().Changed("unit"):
		return cli.BadInput("--unit: only with --import")
	case len(h.matrices) > 0 && c.Flags().Changed("measure") && h.measure:
		return cli.BadInput("--measure and --import: want one of them")
	case len(h.matrices) > 0 || !h.measure:
		if err := cli.RefuseUnused(c, "nothing is measured here", "ranks", "size", "budget", "seed", "sim", "timeout"); err != nil {
			return err
		}
		if err := h.append(c.ErrOrStderr()); err != nil {
			return err
		}
		return o.judge(c, shared.JSON)
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
	return o.judge(c, shared.JSON)
}

// runs reads the file; that there is none is no error.
func (h *historyOptions) runs(warn io.Writer) ([]check.Run, error) {
	f, err := os.Open(h.file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	defer f.Close()
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
	var refused error
	if comm.Rank() == 0 {
		before, refused = o.history.runs(io.Discard)
	}
	if err := cli.Agree(comm, "earlier runs", refused); err != nil {
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
	return check.AppendRun(o.history.file, *sample)
}

// append takes over matrices, each before any is written. How each was understood goes to warn.
func (h *historyOptions) append(warn io.Writer) error {
	unit, err := encode.ParseUnit(h.unit)
	if err != nil {
		return cli.BadInput("--unit: %w", err)
	}
	var runs []check.Run
	for _, text := range h.matrices {
		day, path, ok := strings.Cut(text, "=")
		at, err := parseDate(day)
		if !ok || err != nil {
			return cli.BadInput("--import %s: want DATE=FILE, such as 2026-11-01=latencies.csv", text)
		}
		run, err := matrixRun(path, unit, warn)
		if err != nil {
			return cli.BadInput("--import %s: %w", path, err)
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
	f, err := cli.OpenInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := encode.ReadMatrix(f, unit)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(warn, "%s: %s\n", path, l.Understood)
	for _, warning := range l.Warnings {
		fmt.Fprintf(warn, "warning: %s: %s\n", path, warning)
	}
	n, _ := l.Matrix.Dims()
	name := func(i int) string {
		if l.Names != nil {
			return l.Names[i]
		}
		return fmt.Sprintf("h%d", i)
	}
	run := &check.Run{}
	for i := range n {
		for j := range n {
			if v := l.Matrix.At(i, j); i != j && v > 0 && !math.IsInf(v, 1) {
				run.Points = append(run.Points, check.Point{Kind: check.PointLatency, From: name(i), To: name(j), Seconds: v})
			}
		}
	}
	return run, nil
}

// judge tells the changes.
func (o *checkOptions) judge(c *cobra.Command, asJSON bool) error {
	runs, err := o.history.runs(c.ErrOrStderr())
	if err != nil {
		return err
	}
	s := &check.WatchSettings{Step: o.history.step, FalseAlarms: o.history.alarms}
	if o.known != nil {
		if s.Graph, err = wiringByName(o.known); err != nil {
			return cli.BadInput("%w", err)
		}
		s.Routing = o.known.Settings().Routing
	}
	found, err := check.Watch(runs, s)
	if err != nil {
		return cli.BadInput("%s: %w", o.history.file, err)
	}
	newest := slices.DeleteFunc(slices.Clone(found.Changes), func(x check.Change) bool { return x.Run != len(runs)-1 })
	shown := newest
	if o.all {
		shown = found.Changes
	}
	if asJSON {
		err = writeWatched(c.OutOrStdout(), found, runs, shown)
	} else {
		tellWatched(c.OutOrStdout(), found, runs, shown, o.all)
	}
	switch {
	case err != nil:
		return err
	case len(newest) > 0:
		return cli.Answer(cli.StatusDifferent)
	case found.Samples == 0:
		return cli.Answer(cli.StatusUnknown)
	}
	return nil
}
