package main

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/scenario"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

func simulateCommand() *cobra.Command {
	var (
		cluster, placement string
		ranks              int
		overhead           time.Duration
		faults             []string
	)
	c := &cobra.Command{
		Use:   "simulate --cluster SPEC [flags] -- COMMAND [flags]",
		Short: "Run another command on a simulated cluster, in virtual time",
		Long: `Simulate runs another command on the ranks of a cluster that one does not have. The cluster is one line
of text: star:8, tree:2x4x8, fattree:8,8;1,4, torus:4x4 hosts=8, dragonfly:2,4,2, "core:4 socket:2 host:16",
followed by latency= and rate= per level from coarse to fine. Transfers share the links of their routes;
the same command gives the same times on every run.

--cluster may also be a file: a network of topocast discover, a graph, or a platform file, with all
latencies and bandwidths. --fault names what is wrong with it, by names of hosts and switches or by
their numbers, and may be given several times; faults of the same link or host multiply:

  link A-B 1.5x                   latency 1.5 times, rate 1/1.5, both ways
  link A-B latency=1.5x rate=0.9x
  direction A>B rate=0.5x         one way alone
  link A-B 10x at=2s              from then on; direction, too
  host A 1.2x                     its software and its links
  lost 7                          rank 7 is gone; lost 7 at=2ms: later

--placement says on which hosts the ranks run: block, cyclic, shuffled (shuffled:7 with another
seed than 0), or a file with a host per line.`,
		Example: `  topocast simulate --cluster "tree:2x4x8 latency=20us,8us,2us" -- discover
  topocast simulate --cluster "fattree:8,8;1,4" --placement shuffled -- \
      bcast --sizes 1MiB
  topocast simulate --cluster tree:4x8 --fault "host h12 1.2x" -- check`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case c.Name():
				return badInput("simulate: a simulation runs no other simulation")
			case "reconstruct", "compare", "report", "predict", "place", "rules", "show", "draw", "export", "correct", "cut", "join":
				return badInput("simulate: %s has no ranks to simulate: want discover, measure, bcast, tune, check, watch or experiment", args[0])
			}
			if cluster == "" {
				return badInput("simulate: want --cluster, for example --cluster \"tree:2x4x8 rate=10Gbps\"")
			}
			hollowAbove := 0
			if args[0] == "discover" { // others look at what they get
				hollowAbove = discoverHollow
			}
			if !c.Flags().Changed("overhead") {
				overhead = ownOverhead
			}
			run, err := simulator(cluster, placement, overhead, hollowAbove, faults...)
			if err != nil {
				return err
			}
			inner := command(func(n int, work func(mpi.Communicator) error) error {
				if n == 0 {
					n = ranks
				}
				return run(n, work)
			})
			if experiment, _, err := inner.Find([]string{"experiment"}); err == nil {
				for _, one := range experiment.Commands() {
					here := one.Flags().Lookup("here")
					_ = here.Value.Set("true") // on the runner's ranks, which are simulated already
					one.PreRunE = func(c *cobra.Command, _ []string) error {
						if c.Flags().Changed("cluster") {
							return badInput("experiment %s: the cluster is that of simulate --cluster already", c.Name())
						}
						return nil
					}
				}
			}
			for _, c := range inner.Commands() {
				simulatedDefaults(c)
				if network := c.Flags().Lookup("network"); network != nil && (c.Name() == "check" || c.Name() == "watch") {
					network.DefValue = cluster // as it should be, without the faults
					_ = network.Value.Set(cluster)
				}
				c.PreRunE = func(c *cobra.Command, _ []string) error {
					if c.Flags().Changed("sim") {
						return badInput("--sim: the cluster is that of --cluster already")
					}
					return nil
				}
			}
			inner.SetArgs(args)
			inner.SetOut(c.OutOrStdout())
			inner.SetErr(c.ErrOrStderr())
			return inner.ExecuteContext(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&cluster, "cluster", "", "the cluster, for example \"tree:2x4x8 rate=10Gbps\"")
	f.StringArrayVar(&faults, "fault", nil, "a fault of the cluster, such as \"link h3-s0 1.5x\"")
	f.StringVar(&placement, "placement", "block", "block, cyclic, shuffled, shuffled:SEED, or a file with one host per line")
	f.IntVar(&ranks, "ranks", 0, "number of ranks; 0: one per host")
	f.DurationVar(&overhead, "overhead", defaultOverhead, "what sending and what receiving a message cost a rank's CPU; default also: what a network of --cluster has measured")
	return c
}

// simulatedDefaults changes defaults of a command for simulated ranks. The output
// file gets another name: what was simulated must not take the place of what
// was measured. discover measures every pair once: nothing else runs that could
// disturb it, and 1,024 ranks take minutes as it is.
func simulatedDefaults(c *cobra.Command) {
	if f := c.Flags().Lookup("repetitions"); f != nil && !f.Changed && c.Name() == "discover" {
		f.DefValue = "1"
		_ = f.Value.Set(f.DefValue)
	}
	const prefix = "simulated-"
	f := c.Flags().Lookup("output")
	if f != nil && !f.Changed && strings.HasSuffix(f.DefValue, ".json") && !strings.HasPrefix(f.DefValue, prefix) {
		f.DefValue = prefix + f.DefValue
		_ = f.Value.Set(f.DefValue) // a string takes every value
	}
}

// defaultOverhead is about what MPI libraries take to send, and to receive, a
// short message.
const defaultOverhead = 300 * time.Nanosecond

// ownOverhead stands for what the network of --cluster knows of it, or else defaultOverhead.
const ownOverhead time.Duration = -1

// simulator returns a runner on a simulated cluster, with the overhead per
// message of sender and receiver, and with faults. Messages above so many bytes carry no
// content, 0: all carry theirs. Timings scatter by 1 %.
func simulator(spec, placement string, overhead time.Duration, hollowAbove int, faults ...string) (runner, error) {
	if mpi.Launched() >= 0 {
		return nil, badInput("a simulation (--sim, simulate) is one process: start it without a launcher")
	}
	if overhead < 0 && overhead != ownOverhead {
		return nil, badInput("--overhead %s: want at least 0", overhead)
	}
	cluster, network, err := simulatedMachine(spec)
	if err != nil {
		return nil, err
	}
	send, recv := overhead.Seconds(), overhead.Seconds()
	if overhead == ownOverhead {
		send, recv = defaultOverhead.Seconds(), defaultOverhead.Seconds()
		if s, r, known := softwareOf(network); known {
			send, recv = s, r
			if cluster.Graph, err = withoutSoftware(cluster.Graph, send, recv); err != nil {
				return nil, &inputError{err}
			}
		}
	}
	var wrong simnet.Faults
	for _, fault := range faults {
		if err := scenario.AddFault(&wrong, fault, cluster.Graph); err != nil {
			return nil, badInput("--fault: %w", err)
		}
	}
	return func(ranks int, work func(mpi.Communicator) error) error {
		if ranks < 0 {
			return badInput("--ranks %d: want at least 1", ranks)
		}
		if ranks == 0 {
			ranks = cluster.Graph.Hosts()
		}
		place, err := scenario.Placement(placement, ranks, cluster.Graph, cluster.Hierarchy, cluster.Node)
		if err != nil {
			return &inputError{err}
		}
		settings := cluster.Settings()
		settings.Send.Seconds, settings.Recv.Seconds = send, recv
		settings.Faults, settings.HollowAbove = wrong, hollowAbove
		for _, lost := range wrong.LostRanks {
			if lost.Rank >= ranks {
				return badInput("--fault \"lost %d\": there are %d ranks", lost.Rank, ranks)
			}
		}
		settings.Noise, settings.Seed = simnet.Noise{Sigma: 0.01}, 1
		err = simnet.Run(cluster.Graph, place, settings, work)
		var input *inputError
		if errors.As(err, &input) {
			return input // without the rank: all found it
		}
		return err
	}, nil
}

// simulatedCluster is that of a line, or of a file that holds a network or a graph.
func simulatedCluster(spec string) (*simnet.Cluster, error) {
	c, _, err := simulatedMachine(spec)
	return c, err
}

// simulatedMachine is simulatedCluster with the network, if there is one.
func simulatedMachine(spec string) (*simnet.Cluster, *model.Network, error) {
	if info, err := os.Stat(spec); err != nil || info.IsDir() {
		cluster, err := simnet.ParseCluster(spec)
		if err != nil {
			return nil, nil, &inputError{err}
		}
		return cluster, nil, nil
	}
	n, err := loadNetwork(spec)
	if err != nil {
		return nil, nil, err
	}
	g, err := namedByHost(n, n.Graph())
	if err != nil {
		return nil, nil, &inputError{err}
	}
	for _, a := range g.Arcs() {
		if math.IsNaN(a.Latency) || math.IsNaN(a.Bandwidth) {
			return nil, nil, badInput("%s: link %s-%s: its latency or bandwidth is not known, and cannot be simulated", spec, g.Name(a.From), g.Name(a.To))
		}
	}
	return &simnet.Cluster{Graph: g, Hierarchy: n.Hierarchy(), Routing: n.Routing()}, n, nil
}

// softwareOf are the overheads os and or of a short message in s, of the finest level of a network that has
// both. Those of long ones are no cost of a CPU alone: a synchronous send waits for the receiver.
func softwareOf(n *model.Network) (send, recv float64, known bool) {
	if n == nil {
		return 0, 0, false
	}
	for _, l := range n.Levels() {
		if len(l.Send) > 0 && len(l.Recv) > 0 {
			return l.Send[0], l.Recv[0], true
		}
	}
	return 0, 0, false
}

// withoutSoftware takes the overheads, which measured latencies hold, out of the links of the hosts, so that a
// simulated message takes as long as the network says. Where hosts are linked to several others it changes nothing: ways
// go through hosts, too.
func withoutSoftware(g *topology.Graph, send, recv float64) (*topology.Graph, error) {
	arcs := slices.Clone(g.Arcs())
	links := make([]int, g.Hosts())
	for i := range arcs {
		a := &arcs[i]
		switch {
		case a.From < g.Hosts() && a.To < g.Hosts():
			return g, nil
		case a.From < g.Hosts():
			links[a.From]++
			a.Latency = max(0, a.Latency-send)
		case a.To < g.Hosts():
			a.Latency = max(0, a.Latency-recv)
		}
	}
	if slices.ContainsFunc(links, func(count int) bool { return count > 1 }) {
		return g, nil
	}
	return g.WithArcs(arcs)
}
