package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
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
		title: "Zhu, Lastovetsky, Ali, Riesen, Hasanov 2014: Asymmetric communication models for resource-constrained hierarchical Ethernet networks.",
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
			o := &zhuOptions{trials: 500, fit: concurrent.UsualPatterns} // of sections 7.1 and 7.2
			cli.Parse(f, &o.degrees, "degrees", "1,2,3", "draws per host, by commas, an experiment each", cli.ParseSizes)
			cli.Want(f, "degrees", "numbers of at least 1, such as 1,2,3", func() bool { return slices.Min(o.degrees) >= 1 })
			f.IntVar(&o.trials, "trials", o.trials, "messages that each experiment has more of")
			cli.Want(f, "trials", "at least 1", func() bool { return o.trials >= 1 })
			cli.Parse(f, &o.bytes, "bytes", "10MB", "size of a message, such as "+cli.SizeForms, cli.ParseSize)
			cli.Want(f, "bytes", "1 byte to 2 GiB", func() bool { return o.bytes >= 1 && o.bytes <= math.MaxInt32 })
			f.IntVar(&o.fit, "fit", o.fit, "patterns to fit to")
			cli.Want(f, "fit", "at least 1", func() bool { return o.fit >= 1 })
			f.IntVar(&o.iterations, "iterations", 0, "most iterations of a pattern; 0: 2000")
			cli.Want(f, "iterations", "at least 0", func() bool { return o.iterations >= 0 })
			return o
		},
	}
}

// zhuOptions set the experiment.
type zhuOptions struct {
	trials, fit, iterations int

	bytes   int64
	degrees []int
	nodes   []int       // numbers of hosts, an experiment each; nil: all hosts
	machine *zhuMachine // nil: the ranks of a job
}

// A zhuMachine is a simulated one.
type zhuMachine struct {
	cluster  *simnet.Cluster
	sharing  zhuSharing
	like     bool             // it is zhuCluster
	settings *simnet.Settings // what is true of it
}

// zhuSharing is how links are shared.
type zhuSharing int

const (
	asPaper   zhuSharing = iota // by the law under test
	asSimGrid                   // as SimGrid does
	evenly                      // the two directions of a link do not disturb each other
)

func (o zhuOptions) simulate(ctx context.Context, s *stage) error {
	cluster, err := cli.SimulatedCluster(zhuCluster)
	if err != nil {
		return err
	}
	o.nodes = []int{10, 20, 30}
	s.out.Where = "Simulated: " + zhuCluster + "."
	for _, sharing := range []zhuSharing{asPaper, asSimGrid} {
		if err := o.on(ctx, s, zhuMachine{cluster: cluster, sharing: sharing, like: true}); err != nil {
			return err
		}
	}
	return nil
}

// on runs it on a simulated machine.
func (o zhuOptions) on(ctx context.Context, s *stage, m zhuMachine) error {
	m.settings = usualSettings(m.cluster)
	switch m.sharing {
	case asPaper:
		m.settings.Sharing.Coupling = 1
	case asSimGrid:
		m.settings.Sharing = contention.Sharing{Coupling: 1, AckWeight: simGridAcks}
		m.settings.FlowPerMessage = true
	}
	o.machine = &m
	return simnet.Run(m.cluster.Graph, nil, m.settings, func(comm mpi.Communicator) error { return o.measure(ctx, comm, s) })
}

// simGridAcks is the share of a message's rate that its acknowledgements take the other way: SimGrid's cross traffic.
const simGridAcks = 0.05

// zhuParts share the budget: one is for the network itself, and three are for the patterns. The last is kept for what rank 0 reckons,
// and for what goes over its time.
const zhuParts = 5

func (o zhuOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) error {
	if err := wantHosts(comm); err != nil { // before any of the budget is spent
		return err
	}
	budget := s.budget.split(zhuParts)
	d := &measure.DiscoverSettings{Control: harness.Control{Budget: budget.next()}, Sampling: measure.Sampling{Seed: 1}, Measured: cli.Measured(comm, "papers zhu")}
	if isSimulated(comm) {
		d.Samples, d.Repetitions = cli.SimulatedSamples, 1
	}
	found, err := measure.Discover(ctx, comm, d)
	if err != nil {
		return err
	}
	var run *zhuRun
	settings := &concurrent.Settings{MaxIterations: o.iterations, Control: harness.Control{Budget: 3 * budget.next()}}
	if comm.Rank() == 0 {
		if run, err = newZhuRun(&o, found); err == nil {
			settings.Patterns = run.transfers()
			fmt.Fprintln(s.progress, words.Count(len(settings.Patterns), "pattern"))
		}
	}
	if err := cli.Agree(comm, "zhu: patterns", err); err != nil {
		return err
	}
	r, err := concurrent.Measure(ctx, comm, settings)
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		err = run.evaluate(r)
	}
	if err := cli.Agree(comm, "zhu: measurements", err); err != nil || comm.Rank() != 0 {
		return err // others of several experiments go on, if it is input
	}
	return run.write(s.out)
}
