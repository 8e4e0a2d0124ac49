package main

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

func experimentCommand(run runner) *cobra.Command {
	c := &cobra.Command{
		Use:   "experiment",
		Short: "Repeat a published experiment, here or simulated",
		Long: `Experiment repeats an experiment of a paper and prints the paper's table:

  zhu   how well models predict messages that are under way together`,
		Example: `  mpirun -n 30 topocast experiment zhu`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(zhuCommand(run))
	return c
}

// Defaults of the experiment.
const (
	zhuTrials  = 500 // Zhu et al. 2014, section 7.2
	zhuBytes   = "10MB"
	zhuBudget  = 10 * time.Minute
	zhuHollow  = 4 << 20 // B; simulated messages above carry nothing
	zhuDegrees = "1,2,3"
)

func zhuCommand(run runner) *cobra.Command {
	var (
		o                      zhuOptions
		cluster, size, degrees string
		nodes                  string
		ranks                  int
		coupling               float64
		asJSON                 bool
	)
	c := &cobra.Command{
		Use:   "zhu [flags]",
		Short: "Predict random patterns of messages (Zhu et al. 2014, Table II)",
		Long: `Zhu repeats the experiments of Zhu et al. 2014 (sections 7.1 to 7.3). It discovers the network of the
ranks, fits it to some patterns of concurrent messages (--fit), and then measures others, that the fit
has not seen: random patterns between the hosts, with d = 1, 2 and 3 draws per host, until there
are more than --trials messages of each; and an irregular exchange of four hosts.

The first table has the columns of Table II: hosts, d, messages, steps of the prediction, the half width
of the 95 % interval of the mean error relative to it, and mean errors of the asymmetric model: of all patterns,
of those in which a link is used both ways, and of fair sharing in those. Errors are those of
medians over the iterations. The second table sets fair, asymmetric and fitted sharing side by side.

Without mpirun it runs on a simulated cluster, --cluster, whose links are coupled by --coupling: 0 is fair,
1 asymmetric. There the truth is known, and predicted by, too.`,
		Example: `  topocast experiment zhu --cluster "tree:2x15 latency=50us,25us \
      rate=9.4Gbps,940Mbps" --coupling 1 --nodes 10,20,30
  mpirun -n 10 topocast experiment zhu --trials 60 --bytes 1MB`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.bytes, err = parseSize(size); err != nil {
				return badInput("--bytes: %w", err)
			}
			if o.degrees, err = parseSizes(degrees); err != nil {
				return badInput("--degrees %s: want numbers, such as %s", degrees, zhuDegrees)
			}
			if nodes != "" {
				if o.nodes, err = parseSizes(nodes); err != nil {
					return badInput("--nodes %s: want numbers of hosts, such as 10,20,30", nodes)
				}
			}
			if err := o.validate(); err != nil {
				return err
			}
			if cluster != "" {
				if run, err = o.simulate(cluster, coupling); err != nil {
					return err
				}
				if !c.Flags().Changed("budget") {
					o.budget = 0 // nobody waits for virtual time
				}
			} else if err := refuseUnused(c, "only with --cluster", "coupling"); err != nil {
				return err
			}
			return run(ranks, func(comm mpi.Communicator) error {
				own := o // ranks may share the options
				report, err := own.run(c.Context(), comm, c)
				if err != nil || comm.Rank() != 0 {
					return err
				}
				for _, warning := range report.Warnings {
					c.PrintErrf("warning: %s\n", warning)
				}
				if asJSON {
					return report.writeJSON(c.OutOrStdout())
				}
				return report.writeText(c.OutOrStdout())
			})
		},
	}
	f := c.Flags()
	f.StringVar(&cluster, "cluster", "", "simulate this cluster, for example \"tree:2x5 rate=1Gbps\"")
	f.Float64Var(&coupling, "coupling", 0, "with --cluster: how the two directions of its links disturb each other, 0 to 1")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per host of the cluster")
	f.StringVar(&nodes, "nodes", "", "numbers of hosts, by commas, an experiment each; default: all hosts")
	f.StringVar(&degrees, "degrees", zhuDegrees, "draws per host, by commas, an experiment each")
	f.IntVar(&o.trials, "trials", zhuTrials, "messages that each experiment has more of")
	f.StringVar(&size, "bytes", zhuBytes, "size of a message, such as "+sizeForms)
	f.IntVar(&o.fit, "fit", concurrent.UsualPatterns, "patterns to fit to")
	f.IntVar(&o.iterations, "iterations", 0, "most iterations of a pattern; 0: 2000")
	f.DurationVar(&o.budget, "budget", zhuBudget, "longest time to measure; by default none of a simulated cluster")
	f.Uint64Var(&o.seed, "seed", 1, "of the random patterns")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/zhu) instead of tables")
	return c
}

// zhuOptions set the experiment.
type zhuOptions struct {
	nodes, degrees []int
	trials, fit    int
	iterations     int
	bytes          int64
	budget         time.Duration
	seed           uint64
	cluster        *simnet.Cluster // nil: real ranks
	sharing        simnet.Settings // what is true of a simulated one
}

func (o *zhuOptions) validate() error {
	switch {
	case o.trials < 1:
		return badInput("--trials %d: want at least 1", o.trials)
	case o.fit < 1:
		return badInput("--fit %d: want at least 1", o.fit)
	case o.iterations < 0:
		return badInput("--iterations %d: want at least 0", o.iterations)
	case o.bytes < 1 || o.bytes > math.MaxInt32:
		return badInput("--bytes %d: want in [1, %d]", o.bytes, math.MaxInt32)
	case o.budget <= 0:
		return badInput("--budget %s: want above 0", o.budget)
	}
	for _, d := range o.degrees {
		if d < 1 {
			return badInput("--degrees %d: want at least 1", d)
		}
	}
	for _, n := range o.nodes {
		if n < leastHosts {
			return badInput("--nodes %d: want at least %d", n, leastHosts)
		}
	}
	return nil
}

// simulate makes the runner of a simulated cluster. Long messages are hollow: they take
// their time, and no memory.
func (o *zhuOptions) simulate(spec string, coupling float64) (runner, error) {
	if launchedRank() >= 0 {
		return nil, badInput("--cluster: a simulation is one process: start it without a launcher")
	}
	if !(coupling >= 0 && coupling <= 1) {
		return nil, badInput("--coupling %g: want in [0, 1]", coupling)
	}
	cluster, err := simnet.ParseCluster(spec)
	if err != nil {
		return nil, &inputError{err}
	}
	settings := cluster.Settings()
	settings.Send.Seconds, settings.Recv.Seconds = defaultOverhead.Seconds(), defaultOverhead.Seconds()
	settings.Noise, settings.Seed = simnet.Noise{Sigma: 0.01}, 1
	settings.HollowAbove = zhuHollow
	if coupling > 0 {
		settings.Sharing.Asymmetric = true
		settings.Sharing.Coupling = make([]float64, cluster.Graph.NumArcs())
		for arc := range settings.Sharing.Coupling {
			settings.Sharing.Coupling[arc] = coupling
		}
	}
	o.cluster, o.sharing = cluster, *settings
	return func(ranks int, work func(mpi.Communicator) error) error {
		if ranks < 0 || ranks > cluster.Graph.Hosts() {
			return badInput("--ranks %d: want in [0, %d]", ranks, cluster.Graph.Hosts())
		}
		place := make([]int, ranks)
		for i := range place {
			place[i] = i
		}
		if ranks == 0 {
			place = nil
		}
		return simnet.Run(cluster.Graph, place, settings, work)
	}, nil
}

// discoverPart is the part of the budget, a fifth, for the network itself.
const discoverPart = 5

// run is collective; others than rank 0 get nil.
func (o *zhuOptions) run(ctx context.Context, comm mpi.Communicator, c *cobra.Command) (*zhuReport, error) {
	s := &measure.DiscoverSettings{Budget: o.budget / discoverPart, Seed: 1, Date: date(comm), Tool: "topocast experiment zhu"}
	if _, is := comm.(*simnet.Comm); is {
		s.Samples, s.Repetitions = simulatedSamples, 1
	}
	found, err := measure.Discover(ctx, comm, s)
	if err != nil {
		return nil, err
	}
	var z *zhuExperiment
	measured := &concurrent.Settings{
		MaxIterations: o.iterations, Budget: o.budget - o.budget/discoverPart,
		Untouched: o.cluster != nil && o.bytes > zhuHollow,
	}
	if comm.Rank() == 0 {
		if z, err = o.design(found); err == nil {
			measured.Patterns = z.patterns()
			shown := progress.New(c.ErrOrStderr(), "patterns")
			defer shown.Close()
			start := time.Now()
			measured.Progress = func(done, total int) {
				shown.Show(measure.Progress{Done: done, Total: total, Elapsed: time.Since(start)})
			}
		}
	}
	if err := harness.Agree(comm, err); err != nil {
		return nil, err
	}
	r, err := concurrent.Measure(ctx, comm, measured)
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	report, err := z.evaluate(r)
	if err != nil {
		return nil, err
	}
	report.Library = strings.TrimSpace(found.Latencies.Library)
	return report, nil
}
