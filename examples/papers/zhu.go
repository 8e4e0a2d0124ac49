package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// zhuCluster is the paper's main testbed (3.2.1): two racks of 15 hosts, NICs of 1 Gbit/s that give 940
// Mbit/s and a backbone of 10 Gbit/s that gives 9.4 (5.1); round trips between racks take 450 us.
// Two processes on each host are enough for two of their own for every message of a random pattern.
const zhuCluster = "core:2 host:15 rack:2 latency=75us,37us,500ns rate=9.4Gbps,940Mbps,10GBps"

func zhuSource() source {
	return source{
		name:  "zhu",
		short: "Predict messages that are under way together (Zhu et al. 2014)",
		long: `Zhu repeats the experiments of Zhu et al. 2014 (sections 7.1 to 7.3). It discovers the network of the
ranks, fits it to some patterns of concurrent messages (--fit), and then measures others, that the fit
has not seen: random patterns between the hosts, with d = 1, 2 and 3 draws per host, until there
are more than --trials messages of each; and an irregular exchange of four hosts.

The first table has the columns of Table II: hosts, d, messages, steps of the prediction, the half width
of the 95 % interval of the mean error relative to it, and mean errors of the asymmetric model: of all patterns,
of those in which a link is used both ways, and of fair sharing in those. Errors are those of
medians over the iterations. The second table sets fair, asymmetric and fitted sharing side by side.

It simulates the paper's main testbed, whose links obey the paper's law: there the truth is known, and predicted by, too.
The testbed is simulated a second time with links that are shared as SimGrid does, which is not the law under test.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := newZhuOptions()
			f.StringVar(&o.draws, "degrees", "1,2,3", "draws per host, by commas, an experiment each")
			f.IntVar(&o.trials, "trials", o.trials, "messages that each experiment has more of")
			f.StringVar(&o.size, "bytes", o.size, "size of a message, such as "+cli.SizeForms)
			f.IntVar(&o.fit, "fit", o.fit, "patterns to fit to")
			f.IntVar(&o.iterations, "iterations", 0, "most iterations of a pattern; 0: 2000")
			return o
		},
	}
}

// zhuOptions set the experiment.
type zhuOptions struct {
	size, draws     string // as given: bytes, degrees
	nodes           []int  // numbers of hosts, an experiment each; nil: all hosts
	degrees         []int
	trials, fit     int
	iterations      int
	bytes           int64
	budget          allowance       // of the network and of the patterns
	cluster         *simnet.Cluster // nil: real ranks
	sharing         simnet.Settings // what is true of a simulated one
	like            bool            // the cluster is zhuCluster
	simGrid, lawful bool            // its links are shared as SimGrid does, or by the paper's law
}

// newZhuOptions are those of sections 7.1 and 7.2.
func newZhuOptions() *zhuOptions {
	return &zhuOptions{size: "10MB", draws: "1,2,3", trials: 500, fit: concurrent.UsualPatterns}
}

// read takes what the flags say.
func (o *zhuOptions) read() error {
	var err error
	if o.bytes, err = cli.ParseSize(o.size); err != nil {
		return cli.BadInput("--bytes: %w", err)
	}
	if o.degrees, err = cli.ParseSizes(o.draws); err != nil || slices.Min(o.degrees) < 1 {
		return cli.BadInput("--degrees %s: want numbers of at least 1, such as 1,2,3", o.draws)
	}
	switch {
	case o.trials < 1:
		return cli.BadInput("--trials %d: want at least 1", o.trials)
	case o.fit < 1:
		return cli.BadInput("--fit %d: want at least 1", o.fit)
	case o.iterations < 0:
		return cli.BadInput("--iterations %d: want at least 0", o.iterations)
	case o.bytes < 1 || o.bytes > math.MaxInt32:
		return cli.BadInput("--bytes %d: want in [1, %d]", o.bytes, math.MaxInt32)
	}
	return nil
}

func (o *zhuOptions) simulate(ctx context.Context, s *stage) (*outcome.Outcome, error) {
	cluster, err := cli.SimulatedCluster(zhuCluster)
	if err != nil {
		return nil, err
	}
	own := *o
	own.like, own.nodes = true, []int{10, 20, 30}
	found, err := own.on(ctx, s, cluster, 1)
	if err != nil {
		return nil, err
	}
	found.Where = "Simulated: " + zhuCluster + "."
	own.simGrid = true
	other, err := own.on(ctx, s, cluster, 1)
	if err != nil {
		return nil, err
	}
	found.Sections = append(found.Sections, other.Sections...)
	for _, w := range other.Warnings {
		if !slices.Contains(found.Warnings, w) {
			found.Warnings = append(found.Warnings, w)
		}
	}
	return found, nil
}

// on runs it on a simulated cluster, of whose links the two directions disturb each other by coupling: 0 is fair sharing, 1 the
// paper's asymmetric one. Long messages are hollow: they take their time, and no memory.
func (o *zhuOptions) on(ctx context.Context, s *stage, cluster *simnet.Cluster, coupling float64) (*outcome.Outcome, error) {
	own := *o
	if err := own.read(); err != nil {
		return nil, err
	}
	settings := cluster.Settings()
	settings.Send.Seconds, settings.Recv.Seconds = cli.DefaultOverhead.Seconds(), cli.DefaultOverhead.Seconds()
	settings.Noise, settings.Seed = simnet.Noise{Sigma: 0.01}, 1
	settings.HollowAbove = cli.DiscoverHollow
	switch {
	case own.simGrid:
		settings.Sharing = contention.Sharing{Asymmetric: true, AckWeight: simGridAcks}
		settings.FlowPerMessage = true
	case coupling > 0:
		settings.Sharing.Asymmetric = true
		settings.Sharing.Coupling = slices.Repeat([]float64{coupling}, cluster.Graph.NumArcs())
	}
	own.cluster, own.sharing, own.lawful = cluster, *settings, coupling == 1 && !own.simGrid
	return onSimulated(cluster, nil, settings, func(comm mpi.Communicator) (*outcome.Outcome, error) {
		ranks := own // share nothing
		return ranks.run(ctx, comm, s)
	})
}

// simGridAcks is the share of a message's rate that its acknowledgements take the other way: SimGrid's cross traffic.
const simGridAcks = 0.05

func (o *zhuOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) (*outcome.Outcome, error) {
	own := *o
	if err := own.read(); err != nil {
		return nil, err
	}
	own.budget = *allow(comm, s.budget, zhuParts)
	return own.run(ctx, comm, s)
}

// zhuParts share the budget: one is for the network itself, three are for the patterns, and the last is kept for what rank 0 reckons,
// and for what goes over its time.
const zhuParts = 5

// run is collective; others than rank 0 get nil.
func (o *zhuOptions) run(ctx context.Context, comm mpi.Communicator, s *stage) (*outcome.Outcome, error) {
	if err := wantHosts(comm); err != nil { // before any of the budget is spent
		return nil, err
	}
	d := &measure.DiscoverSettings{Budget: o.budget.next(), Seed: 1, Date: cli.Date(comm), Tool: "papers zhu"}
	if _, is := comm.(*simnet.Comm); is {
		d.Samples, d.Repetitions, d.Untouched = cli.SimulatedSamples, 1, true
	}
	found, err := measure.Discover(ctx, comm, d)
	if err != nil {
		return nil, err
	}
	var z *zhuExperiment
	if comm.Rank() == 0 {
		z, err = o.design(found)
	}
	if err := cli.Agree(comm, "zhu: patterns", err); err != nil {
		return nil, err
	}
	measured, start := &concurrent.Settings{MaxIterations: o.iterations, Untouched: o.cluster != nil}, time.Now()
	if o.budget.left != nil {
		measured.Budget = max(leastShare, o.budget.left()*(zhuParts-2)/(zhuParts-1))
	}
	finish := func() {}
	if comm.Rank() == 0 {
		measured.Patterns = z.patterns()
		shown := progress.New(s.progress, "patterns")
		measured.Progress = func(done, total int) {
			shown.Show(measure.Progress{Done: done, Total: total, Elapsed: time.Since(start)})
		}
		finish = shown.Close
	}
	r, err := concurrent.Measure(ctx, comm, measured)
	finish()
	if err != nil {
		return nil, err
	}
	var report *zhuReport
	if comm.Rank() == 0 {
		report, err = z.evaluate(r)
	}
	if err := cli.Agree(comm, "zhu: measurements", err); err != nil || comm.Rank() != 0 {
		return nil, err // others of several experiments go on, if it is input
	}
	report.Library = strings.TrimSpace(found.Latencies.Library)
	report.zhuOptions = o
	return report.outcome()
}
