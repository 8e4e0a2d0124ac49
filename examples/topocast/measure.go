package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
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
	twoLevel    bool
	equalHosts  bool
	fewPairs    bool
	memory      bool
	patterns    int
	degradation bool
	hwloc       string        // file with the inside of every host; "": what the systems tell
	view        *plogp.View   // of --distance; nil: latencies
	timeout     time.Duration // of a rank that waits for another
	quiet       bool
	journal     *journal // of discover, on rank 0
}

func (o *measureOptions) flags(f *pflag.FlagSet) {
	f.DurationVar(&o.budget, "budget", defaultBudget, "longest time to measure")
	f.IntVar(&o.repetitions, "repetitions", defaultRepetitions, "how often every pair is measured")
	f.StringVar(&o.keep, "keep", "", "file for the measurements themselves")
}

func (o *measureOptions) validate() error {
	if o.budget <= 0 {
		return cli.BadInput("--budget %s: want above 0", o.budget)
	}
	if o.equalHosts && !o.twoLevel {
		return cli.BadInput("--equal-hosts without --two-level: it says that of hosts that are alike one is measured inside")
	}
	if o.fewPairs && o.twoLevel {
		return cli.BadInput("--few-pairs and --two-level: want one of the two")
	}
	if o.view != nil && (o.twoLevel || o.fewPairs) {
		return cli.BadInput("--distance: with --two-level or --few-pairs: want all pairs of one level")
	}
	if o.patterns < 0 {
		return cli.BadInput("--patterns %d: want at least 0", o.patterns)
	}
	if o.repetitions < 1 || o.repetitions > 1000 {
		return cli.BadInput("--repetitions %d: want in [1, 1000]", o.repetitions)
	}
	return nil
}

// Simulated work by the user time for 256 ranks: a pattern of transfers takes as long as some pairs per rank, and so do
// the pairs of --few-pairs together.
const (
	pairsPerPattern = 6
	fewPairsPerRank = 40
)

// work is what discover does on simulated ranks.
func (o *measureOptions) work(ranks int) cli.Work {
	n := float64(ranks)
	w := cli.Work{Pairs: n * (n - 1) / 2 * float64(o.repetitions), Remedy: "--few-pairs or --ranks"}
	if o.fewPairs || o.twoLevel {
		w = cli.Work{Pairs: min(w.Pairs, fewPairsPerRank*n), Remedy: "--ranks or --patterns 0"}
	}
	w.Kept = w.Pairs
	w.Pairs += pairsPerPattern * n * float64(o.patterns)
	return w
}

// discover is collective; other ranks than 0 get nothing. On rank 0 the
// readings of latencies go into the journal of the options, if there is one.
func discover(ctx context.Context, comm mpi.Communicator, o *measureOptions, stdout, stderr io.Writer) (discovery, error) {
	s := &measure.DiscoverSettings{
		Control:  harness.Control{Budget: o.budget, Silence: o.timeout},
		Sampling: measure.Sampling{Repetitions: o.repetitions, Seed: 1},
		Pairs:    o.pairs(), View: o.view, Patterns: cmp.Or(o.patterns, -1), Measured: cli.Measured(comm, "topocast discover"),
	}
	if o.memory {
		s.Also |= measure.Memory
	}
	if o.degradation {
		s.Also |= measure.Degradation
	}
	if _, is := comm.(*simnet.Comm); is {
		s.Samples = cli.SimulatedSamples
	}
	var err error
	if comm.Rank() == 0 && o.hwloc != "" {
		s.Inside, err = readHwloc(o.hwloc)
	}
	if err := cli.Agree(comm, "--hwloc", err); err != nil {
		return discovery{}, err
	}
	if comm.Rank() == 0 {
		s.Record = o.journal.record()
		if !o.quiet {
			shown := progress.New(stderr, "")
			defer shown.Close()
			s.Notify = func(note string) { fmt.Fprintf(stderr, "note: %s\n", note) }
			s.Progress = shown.Show
		}
	}
	d, err := measure.Discover(ctx, comm, s)
	var unkept error
	if d != nil && len(d.Latencies.Readings()) > 0 { // also where nothing could be made of them
		_, unkept = o.keepFile(stdout).Save(d.Latencies.Write)
	}
	if err != nil || d == nil {
		return discovery{}, err
	}
	return discovery{d.Topology, d.Network, unkept}, nil
}

// pairs are those whose latencies are measured.
func (o *measureOptions) pairs() measure.Choice {
	switch {
	case o.fewPairs:
		return measure.FewPairs
	case o.twoLevel && o.equalHosts:
		return measure.TwoLevelsAlike
	case o.twoLevel:
		return measure.TwoLevels
	}
	return measure.AsNeeded
}

// keepFile is the file for the readings.
func (o *measureOptions) keepFile(stdout io.Writer) cli.Output {
	return cli.NewOutput("--keep", o.keep, stdout)
}
