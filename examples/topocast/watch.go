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

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/encode"
)

// watchOptions are the flags of watch.
type watchOptions struct {
	checkOptions
	file, unit   string
	matrices     []string
	sample       bool
	step, alarms float64
	all, asJSON  bool
}

func watchCommand(run runner) *cobra.Command {
	var o watchOptions
	var ranks int
	c := &cobra.Command{
		Use:   "watch --file FILE [flags]",
		Short: "Tell changes of a site, run after run",
		Long: `Watch keeps one file per site, to which each run appends a line, and tells which hosts, links and pairs
of hosts have changed since: what each series takes is compared with its own past, after what all of a run have in
common is taken out. A series is judged from its 9th run on.

With --sample it takes a run: few pairs of the ranks of this job, the same each time. With
--csv DATE=FILE it takes matrices of latencies from elsewhere, one per date. Both are appended; without them the
file is judged as it is. With --network changes of single links are told, too.

A step of 5 % in what is read twice a run with 2 % of noise is told within three runs, and of 1,000 samples of a series
one is told that is none, at most; --false-alarms changes that.

Exit status: 0 the newest run tells no change, 3 it does, 4 there are too few runs.`,
		Example: `  mpirun -n 64 topocast watch --file site.watch --sample
  topocast watch --file site.watch --unit us --csv 2026-11-01=a.csv \
      --csv 2026-11-02=b.csv`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.file == "" {
				return badInput("watch: want --file, to which runs are appended")
			}
			if err := o.validate(); err != nil {
				return err
			}
			if !(o.step > 0 && o.step <= 10) {
				return badInput("--step %g: want a share above 0, such as 0.05", o.step)
			}
			if !(o.alarms >= 1e-4 && o.alarms <= 0.1) {
				return badInput("--false-alarms %g: want 0.0001 to 0.1", o.alarms)
			}
			if !o.sample {
				if err := refuseUnused(c, "only with --sample", "ranks", "size", "budget", "seed"); err != nil {
					return err
				}
				if err := o.append(); err != nil {
					return err
				}
				return o.judge(c)
			}
			if len(o.matrices) > 0 {
				return badInput("--sample and --csv: want one of them")
			}
			lead := false
			err := run(ranks, func(comm mpi.Communicator) error {
				if comm.Rank() == 0 {
					lead = true
				}
				return o.take(c, comm)
			})
			if err != nil || !lead {
				return err
			}
			return o.judge(c)
		},
	}
	f := c.Flags()
	f.StringVar(&o.file, "file", "", "the file of the site; it is made if there is none")
	f.BoolVar(&o.sample, "sample", false, "measure a run of the ranks of this job, and append it")
	f.StringArrayVar(&o.matrices, "csv", nil, "DATE=FILE, a matrix of latencies to append; may be given several times, by date")
	f.StringVar(&o.unit, "unit", "", "unit of a matrix: s, ms, us or ns")
	f.Float64Var(&o.step, "step", 0.05, "least change to look for, as a share")
	f.Float64Var(&o.alarms, "false-alarms", 0.001, "samples without a change that are taken for one, as a share")
	f.BoolVar(&o.all, "all", false, "tell the changes of all runs, not those of the newest only")
	f.BoolVar(&o.asJSON, "json", false, "print JSON (format topocast/changes) instead of text")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per core")
	f.StringVar(&o.network, "network", "", "file or line that says how hosts are wired")
	f.StringVar(&o.size, "size", "1MiB", "size of the long messages")
	f.DurationVar(&o.budget, "budget", defaultBudget, "longest time to measure")
	f.Uint64Var(&o.seed, "seed", 1, "of the choice of pairs")
	o.tolerance = 0.1 // of a check, which this is not
	return c
}

// runs reads the file; that there is none is no error.
func (o *watchOptions) runs(warn io.Writer) ([]check.Run, error) {
	f, err := os.Open(o.file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &inputError{err}
	}
	defer f.Close()
	runs, lost, err := check.ReadRuns(f)
	if err != nil {
		return nil, badInput("%s: %w", o.file, err)
	}
	if lost > 0 {
		fmt.Fprintf(warn, "warning: %s: %s cut short or damaged, passed over\n", o.file, words.Count(lost, "line"))
	}
	// Matrices of older dates may be appended after newer runs.
	slices.SortStableFunc(runs, func(a, b check.Run) int { return a.Date.Compare(b.Date) })
	return runs, nil
}

// take samples the ranks and appends the run. It is collective.
func (o *watchOptions) take(c *cobra.Command, comm mpi.Communicator) error {
	s, err := o.settings(comm)
	if err != nil {
		return err
	}
	var before []check.Run
	var refused error
	if comm.Rank() == 0 {
		before, refused = o.runs(io.Discard)
	}
	if err := agree(comm, "earlier runs", refused); err != nil {
		return err
	}
	sample, err := check.Sample(c.Context(), comm, s, before)
	if err != nil || comm.Rank() != 0 {
		return err
	}
	sample.Date = date(comm)
	return check.AppendRun(o.file, *sample)
}

// append takes over matrices, each before any is written.
func (o *watchOptions) append() error {
	var unit encode.Unit
	if o.unit != "" {
		var err error
		if unit, err = encode.ParseUnit(o.unit); err != nil {
			return badInput("--unit: %w", err)
		}
	}
	var runs []check.Run
	for _, text := range o.matrices {
		day, path, ok := strings.Cut(text, "=")
		at, err := parseDate(day)
		if !ok || err != nil {
			return badInput("--csv %s: want DATE=FILE, such as 2026-11-01=latencies.csv", text)
		}
		run, err := matrixRun(path, unit)
		if err != nil {
			return badInput("--csv %s: %w", path, err)
		}
		run.Date = at
		runs = append(runs, *run)
	}
	for _, run := range runs {
		if err := check.AppendRun(o.file, run); err != nil {
			return &inputError{err}
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

// matrixRun makes a run of a matrix of latencies. Hosts without names have numbers.
func matrixRun(path string, unit encode.Unit) (*check.Run, error) {
	f, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := encode.ReadMatrix(f, unit)
	if err != nil {
		return nil, err
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
func (o *watchOptions) judge(c *cobra.Command) error {
	runs, err := o.runs(c.ErrOrStderr())
	if err != nil {
		return err
	}
	s := &check.WatchSettings{Step: o.step, FalseAlarms: o.alarms}
	if o.known != nil {
		if s.Graph, err = wiringByName(o.known); err != nil {
			return &inputError{err}
		}
		s.Routing = o.known.Routing()
	}
	found, err := check.Watch(runs, s)
	if err != nil {
		return badInput("%s: %w", o.file, err)
	}
	newest := slices.DeleteFunc(slices.Clone(found.Changes), func(x check.Change) bool { return x.Run != len(runs)-1 })
	shown := newest
	if o.all {
		shown = found.Changes
	}
	if o.asJSON {
		err = writeWatched(c.OutOrStdout(), found, runs, shown)
	} else {
		out := &checkedWriter{Writer: c.OutOrStdout()}
		tellWatched(out, found, runs, shown, o.all)
		err = out.err
	}
	switch {
	case err != nil:
		return err
	case len(newest) > 0:
		return answer(statusDifferent)
	case found.Samples == 0:
		return answer(statusUnknown)
	}
	return nil
}
