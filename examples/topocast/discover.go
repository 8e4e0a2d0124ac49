package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// plannedSizes are those for which discover shows times and broadcasts.
var plannedSizes = []int{8, 1 << 10, 64 << 10, 1 << 20}

func discoverCommand(shared *cli.Flags) *cobra.Command {
	var (
		o      discoverOptions
		p      parameterOptions
		output *cli.Output
	)
	c := &cobra.Command{
		Use:   "discover",
		Short: "Measure the job or this machine, print its wiring, write NET",
		Long: `Discover measures how long messages take between all pairs of ranks and reconstructs the wiring from these
times. It prints the tree, typical times per level and the planned broadcasts. It writes the network to a file,
called NET by the other commands, which applications read, too.

Under mpirun the ranks are those of the job.
Otherwise they are threads of this process, one per core and pinned to it: no MPI is needed.
With --sim they run on a simulated cluster in virtual time. --budget is virtual time, too. There every pair is
measured once, with few samples, unless --repetitions is given, and the network goes to simulated-network.json.

` + simulationHelp + `

With --distance the PLogP parameters of all pairs are measured, too, and the groups are
those that this distance shows (reconstruct explains them).

Ctrl-C stops the measuring and makes a network of what was measured, in a simulation if that takes less than a second.
A second one ends the process at once. Under a launcher that ends the job before, the measurements are in FILE.part, beside the
network or the file of --keep: topocast reconstruct --output network.json FILE.part`,
		Example: `  topocast discover
  topocast discover --sim "tree:2x4x8 latency=20us,8us,2us rate=10Gbps" \
      --output planned.json
  mpirun -n 64 topocast discover --budget 1m`,
		Args: cli.Args(0),
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.view, err = p.view(c); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return err
			}
			if o.memory && shared.Sim != "" {
				return cli.BadInput("--memory: %w", errSimulatedInside)
			}
			o.quiet, o.timeout, shared.HollowAbove = shared.JSON, shared.Timeout, cli.DiscoverHollow
			if shared.Sim != "" && !c.Flags().Changed("repetitions") {
				o.repetitions = 1 // nothing disturbs a simulation, and 1,024 ranks take minutes
			}
			shared.Work = o.work
			// Rank 0 keeps and prints what it found while MPI still runs: it may
			// not come back from ending it.
			return shared.Run(c, func(comm mpi.Communicator) error {
				err := onRankZero(comm, "output files", func() error {
					if c.Flags().Changed("output") {
						return nil
					}
					return keepLarger(output.Path, comm.Size())
				})
				if err != nil {
					return err
				}
				own := o // ranks may share the options
				if mpi.Launched() == 0 {
					own.journal = beginJournal(c.Context(), cmp.Or(o.keep.Path, output.Path), "topocast reconstruct reads %s", c.ErrOrStderr(), func(io.Writer) error { return nil })
				}
				found, err := discover(c.Context(), comm, &own, c.ErrOrStderr())
				if err != nil || comm.Rank() != 0 {
					own.journal.end(false)
					return err
				}
				// First the file: who reads the report may end before its end.
				at, unsaved := output.Save(found.network.Write)
				own.journal.end(unsaved == nil && found.unkept == nil)
				err = shared.Print(c,
					func(w io.Writer) error { return found.writeText(w, at) },
					func(w io.Writer) error { return found.writeJSON(w, at) })
				return cmp.Or(unsaved, found.unkept, err)
			})
		},
	}
	f := c.Flags()
	output = shared.Output(c, "output", "o", "network.json", "file for the network; with --sim simulated-network.json")
	o.keep = shared.Output(c, "keep", "", "", "file for the measurements themselves")
	f.BoolVar(&o.twoLevel, "two-level", false, "measure the inside of hosts apart from what is between them: fewer pairs, undisturbed")
	f.BoolVar(&o.fewPairs, "few-pairs", false, "measure only as many pairs as tell the groups apart, even if --budget has time for all")
	f.IntVar(&o.patterns, "patterns", concurrent.UsualPatterns, "patterns of transfers under way together, which tell how links are shared; 0: none")
	cli.Want(f, "patterns", "at least 0", func() bool { return o.patterns >= 0 })
	f.BoolVar(&o.memory, "memory", false, "measure which ranks of a host share caches and memory, too")
	f.StringVar(&o.hwloc, "hwloc", "", "file of lstopo --of xml: the inside of every host, in place of what the systems tell")
	f.BoolVar(&o.degradation, "degradation", false, "measure how messages slow down with distance and with more processes per host, too")
	f.BoolVar(&o.equalHosts, "equal-hosts", false, "with --two-level: hosts whose ranks have the same cores are alike, measure one of each kind")
	budgetFlag(f, &o.budget)
	repetitionsFlag(f, &o.repetitions, "how often every pair is measured")
	p.flags(f)
	return cli.Measures(cli.PrintsJSON(c, "topocast/discovery"))
}

// discoverOptions are the flags that set the measurement of discover.
type discoverOptions struct {
	budget      time.Duration
	repetitions int
	keep        *cli.Output // nil: none
	twoLevel    bool
	equalHosts  bool
	fewPairs    bool
	memory      bool
	patterns    int
	degradation bool
	hwloc       string        // file with the inside of every host; "": what the operating systems say
	view        *plogp.View   // of --distance; nil: latencies
	timeout     time.Duration // of a rank that waits for another
	quiet       bool
	journal     *journal // on rank 0
}

// Defaults of the flags that set a measurement.
const (
	defaultBudget      = 30 * time.Second
	defaultRepetitions = 3
)

func budgetFlag(f *pflag.FlagSet, budget *time.Duration) {
	f.DurationVar(budget, "budget", defaultBudget, "longest time to measure")
	cli.Want(f, "budget", "above 0", func() bool { return *budget > 0 })
}

func repetitionsFlag(f *pflag.FlagSet, repetitions *int, usage string) {
	f.IntVar(repetitions, "repetitions", defaultRepetitions, usage)
	cli.Want(f, "repetitions", "in [1, 1000]", func() bool { return *repetitions >= 1 && *repetitions <= 1000 })
}

// validate is for flags that do not go together.
func (o *discoverOptions) validate() error {
	switch {
	case o.equalHosts && !o.twoLevel:
		return cli.BadInput("--equal-hosts without --two-level: it says that of hosts that are alike one is measured inside")
	case o.fewPairs && o.twoLevel:
		return cli.BadInput("--few-pairs and --two-level: want one of the two")
	case o.view != nil && (o.twoLevel || o.fewPairs):
		return cli.BadInput("--distance: with --two-level or --few-pairs: want all pairs of one level")
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
func (o *discoverOptions) work(ranks int) cli.Work {
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
// latencies go into the journal of the options, if there is one.
func discover(ctx context.Context, comm mpi.Communicator, o *discoverOptions, stderr io.Writer) (discovery, error) {
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
	err := onRankZero(comm, "--hwloc", func() (err error) {
		if o.hwloc != "" {
			s.Inside, err = readHwloc(o.hwloc)
		}
		return err
	})
	if err != nil {
		return discovery{}, err
	}
	if comm.Rank() == 0 {
		s.Record = o.journal.record()
		if !o.quiet {
			defer showProgress(&s.Control, stderr, "")()
		}
	}
	d, err := measure.Discover(ctx, comm, s)
	var unkept error
	if d != nil && o.keep != nil && len(d.Latencies.Measurements()) > 0 { // also where nothing could be made of them
		_, unkept = o.keep.Save(d.Latencies.Write)
	}
	if err != nil || d == nil {
		return discovery{}, err
	}
	return discovery{d.Topology, d.Network, unkept}, nil
}

// pairs are those whose latencies are measured.
func (o *discoverOptions) pairs() measure.Choice {
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

// keepLarger refuses to replace the file of the default name if it holds a network of more ranks, or something else than a network.
func keepLarger(file string, ranks int) error {
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return nil // nothing is lost
	}
	old, err := model.Load(file)
	switch {
	case err != nil:
		return fmt.Errorf("%s is no network: --output %s replaces it, another name keeps it", file, file)
	case old.Ranks() > ranks:
		return fmt.Errorf("%s is a network of %s, this job has %d: --output %s replaces it, another name keeps both", file, words.Count(old.Ranks(), "rank"), ranks, file)
	}
	return nil
}

// A discovery is what discover found, on rank 0.
type discovery struct {
	result  *topology.Result
	network *model.Network
	unkept  error // why the measurements are not where they were to be kept
}

func (d discovery) writeText(w io.Writer, file string) error {
	n := d.network
	if err := printNetwork(w, n, ranksOf(n)); err != nil {
		return err
	}
	if n.Ranks() > 1 {
		if err := d.writePlans(w); err != nil {
			return err
		}
	}
	if file != "" {
		fmt.Fprintf(w, "\nnetwork of %s written to %s\n", words.Count(n.Ranks(), "rank"), file)
	}
	return nil
}

// writePlans writes what follows from the network: predicted times, and how it would broadcast.
func (d discovery) writePlans(w io.Writer) error {
	n := d.network
	fmt.Fprintln(w, "\npredicted time of one message")
	t := columns.New(w, slices.Concat([]string{"between ranks of one"}, each(plannedSizes, quantity.Bytes[int]), []string{"bandwidth", "spread"})...)
	for i, l := range n.Levels() {
		row := []any{n.Hierarchy().LevelName(i)}
		for _, size := range plannedSizes {
			row = append(row, quantity.Seconds(l.Time(int64(size))))
		}
		t.Row(append(row, quantity.Rate(l.Bandwidth()), quantity.Percent(l.Spread))...)
	}
	t.Flush()

	fmt.Fprintln(w, "\nbroadcast from rank 0")
	t = columns.New(w)
	plans, err := fastestPlans(n)
	for i, plan := range plans {
		t.Row(quantity.Bytes(plannedSizes[i]), plan)
	}
	t.Flush()
	return err
}

// fastestPlans are those of a broadcast from rank 0, for each planned size.
func fastestPlans(n *model.Network) ([]predict.Plan, error) {
	var fastest []predict.Plan
	for _, size := range plannedSizes {
		plans, err := predict.Plans(n, nil, size, 0)
		if err != nil {
			return nil, err
		}
		fastest = append(fastest, plans[0])
	}
	return fastest, nil
}

// writeJSON writes the same for programs.
func (d discovery) writeJSON(w io.Writer, file string) error {
	out := results.Discovery{Network: file, Times: []results.TimeOf{}, Bcast: []results.Plan{}}
	var hierarchy bytes.Buffer
	if err := encode.WriteHierarchy(&hierarchy, d.result); err != nil {
		return err
	}
	out.Hierarchy = hierarchy.Bytes()
	for i, l := range d.network.Levels() {
		out.Levels = append(out.Levels, results.LevelOf{Level: d.network.Hierarchy().LevelName(i), Bandwidth: jsonfile.Known(l.Bandwidth()), Spread: jsonfile.Known(l.Spread)})
		for _, size := range plannedSizes {
			if t := l.Time(int64(size)); !math.IsNaN(t) {
				out.Times = append(out.Times, results.TimeOf{Level: d.network.Hierarchy().LevelName(i), Bytes: size, Time: t})
			}
		}
	}
	plans, err := fastestPlans(d.network)
	if err != nil {
		return err
	}
	for i, p := range plans {
		if !math.IsNaN(p.Predicted) {
			out.Bcast = append(out.Bcast, results.Plan{Bytes: plannedSizes[i], Algorithm: p.Name(), Segment: p.Segment, Predicted: p.Predicted})
		}
	}
	return results.Write(w, &out)
}
