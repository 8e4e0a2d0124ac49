package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/mpi"
)

// Defaults of the flags that set a measurement.
const (
	defaultBudget      = 30 * time.Second
	defaultRepetitions = 3
)

// measureOptions are the flags that set a measurement.
type measureOptions struct {
	budget      time.Duration
	repetitions int
	keep        string
	quiet       bool
}

func (o *measureOptions) flags(f *pflag.FlagSet) {
	f.DurationVar(&o.budget, "budget", defaultBudget, "longest time to measure")
	f.IntVar(&o.repetitions, "repetitions", defaultRepetitions, "how often every pair is measured")
	f.StringVar(&o.keep, "keep", "", "file for the readings themselves")
}

func (o *measureOptions) validate() error {
	if o.budget <= 0 {
		return badInput("--budget %s: want above 0", o.budget)
	}
	if o.repetitions < 1 || o.repetitions > 1000 {
		return badInput("--repetitions %d: want in [1, 1000]", o.repetitions)
	}
	return nil
}

// discover is collective; other ranks than 0 get nothing.
func discover(ctx context.Context, comm mpi.Communicator, o *measureOptions, stderr io.Writer) (discovery, error) {
	s := &measure.DiscoverSettings{Budget: o.budget, Repetitions: o.repetitions, Seed: 1, Date: now(), Tool: "topocast discover"}
	if comm.Rank() == 0 {
		s.Measured = o.keepReadings
		if !o.quiet {
			var shown *progress.Printer
			defer func() {
				if shown != nil {
					shown.Close()
				}
			}()
			s.Progress = func(part measure.Part, p measure.Progress) {
				if p.Done == 0 {
					shown = progress.New(stderr, part.String())
				}
				shown.Show(p)
			}
		}
	}
	d, err := measure.Discover(ctx, comm, s)
	if err != nil || d == nil {
		return discovery{}, err
	}
	return discovery{d.Topology, d.Network}, nil
}

// keepReadings writes the readings of all pairs, where they are wanted.
func (o *measureOptions) keepReadings(latencies *measure.Result) error {
	if o.keep == "" {
		return nil
	}
	return latencies.WriteFile(o.keep)
}
