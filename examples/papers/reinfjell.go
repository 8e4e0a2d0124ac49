package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
)

func reinfjellSource() source {
	return source{
		name:  "reinfjell",
		short: "Cluster ranks by PLogP times, and broadcast (Reinfjell 2023)",
		long: `Reinfjell repeats the experiments of Reinfjell 2023: it measures the PLogP parameters of all pairs with R
repetitions, clusters the ranks by several methods with the parameter search of section 3.3, and holds the clusters
against the machines, nodes and sockets that there are (figures 7.1 to 7.5). It looks at the time to measure (5.18), and at
which broadcast is the fastest by size and number of ranks (chapter 6).

The simulated machines have the thesis' latencies and, of four nodes and more, fewer cores; --full takes as many
as the thesis had, but for BETZY, and R up to 128. In a job, repetitions for which --budget
is short are left out; topocast bcast times its broadcasts beside the library's own.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := &reinfjellOptions{seed: 1}
			f.StringVar(&o.list, "reps", "", "repetitions R, by commas; default: "+reinfjellReps+", with --full "+reinfjellFullReps)
			return o
		},
	}
}

// Repetitions R of a measurement: those of the thesis (section 5.1), and fewer for a short run.
const (
	reinfjellReps     = "8,32"
	reinfjellFullReps = "8,32,64,128"
)

// reinfjellOptions set the experiment.
type reinfjellOptions struct {
	list string // of repetitions, as given
	reps []int
	seed uint64
	// noise of simulated times; the zero value: that of the outcome's first line.
	noise simnet.Noise
}

func (o *reinfjellOptions) read(full bool) error {
	list := o.list
	switch {
	case list == "" && full:
		list = reinfjellFullReps
	case list == "":
		list = reinfjellReps
	}
	var err error
	if o.reps, err = cli.ParseSizes(list); err != nil || slices.Min(o.reps) < 1 {
		return cli.BadInput("--reps %s: want numbers of at least 1, such as %s", list, reinfjellReps)
	}
	slices.Sort(o.reps)
	o.reps = slices.Compact(o.reps)
	return nil
}

// A reinfjellMachine is a row of table 3.1.
type reinfjellMachine struct {
	name, purpose string
	nodes, cores  int    // of the thesis: nodes, and cores of each
	spec          string // of what is simulated by default
	full          string // with --full; "": the same
	figure        string // of its accuracy; "": none
	printed       []reinfjellShare
	groups        int // that the thesis' search has found; 0: not printed
	each          int // ranks of each, where it has found more groups than we have ranks; 0: not printed
}

// A reinfjellShare is an accuracy that the text prints: the least of some methods.
type reinfjellShare struct {
	level   string
	methods []string // nil: all
	reps    int
	share   float64
	text    string // about the methods
}

// Latencies of links are such that ways take what the thesis prints. FRAM: inside a socket half of between
// sockets, between nodes twice as long, and 1.5 times that between their groups (5.2, 5.3). BETZY: RTT(0) of 0.6, 0.8 and 1.8 us (5.6).
// Nodes of one core: 0.45 us inside a group and 0.65 us between groups (5.4). Sending and receiving take 50 ns each.
const (
	framLinks  = " latency=250ns,250ns,125ns,75ns rate=12.5GBps,12.5GBps,10GBps,10GBps"
	nodeLinks  = " latency=100ns,175ns rate=12.5GBps"
	betzyLinks = " latency=250ns,50ns,100ns rate=12.5GBps,10GBps,10GBps"

	reinfjellOverhead = 50e-9 // s
)

// static are the methods that are told the number of groups, but for spectral clustering, of which the
// thesis says otherwise (5.2, 5.9), and K-means, which its results do not name.
func static() []string { return []string{"kmedoids", "average"} }

func reinfjellMachines() []reinfjellMachine {
	return []reinfjellMachine{
		{
			name: "FRAM", nodes: 1, cores: 32, purpose: "node internal topology", figure: "7.1", groups: 2,
			spec:    "core:16 socket:2 host:1 latency=250ns,125ns,75ns",
			printed: []reinfjellShare{{truth.Machine, nil, 8, 1, "all but kmeans"}, {truth.Node, nil, 8, 1, "all but kmeans"}, {truth.Socket, nil, 8, 1, "all but kmeans"}},
		},
		{
			name: "FRAM", nodes: 2, cores: 32, purpose: "inter-node topology", figure: "7.2",
			spec: "core:16 socket:2 host:2 latency=250ns,125ns,75ns",
			printed: []reinfjellShare{
				{truth.Socket, static(), 8, 1, "kmedoids, average"},
				{truth.Socket, []string{"hdbscan", "components"}, 8, 1, "hdbscan, components"},
				{truth.Socket, []string{"ssstree"}, 128, 1, "ssstree"},
			},
		},
		{
			name: "FRAM", nodes: 4, cores: 32, purpose: "cluster topology", figure: "7.3",
			spec: "core:4 socket:2 host:2 rack:2" + framLinks, full: "core:16 socket:2 host:2 rack:2" + framLinks,
		},
		{
			name: "FRAM", nodes: 8, cores: 32, purpose: "performance for large P",
			spec: "core:2 socket:2 host:4 rack:2" + framLinks, full: "core:8 socket:2 host:4 rack:2" + framLinks,
		},
		{name: "FRAM", nodes: 8, cores: 1, purpose: "cluster topology", spec: "tree:[4,4]" + nodeLinks},
		{name: "FRAM", nodes: 16, cores: 1, purpose: "cluster topology", spec: "tree:[10,6]" + nodeLinks, groups: 2},
		{name: "FRAM", nodes: 32, cores: 1, purpose: "cluster topology", spec: "tree:[5,5,12,9,1]" + nodeLinks, groups: 5},
		{
			name: "ARM", nodes: 1, cores: 96, purpose: "unknown topology", figure: "7.5", groups: 2,
			spec: "core:24 numa:2 socket:2 host:1 latency=10ns,150ns,75ns,75ns",
		},
		{
			name: "BETZY", nodes: 4, cores: 128, purpose: "topology for BETZY", figure: "7.4",
			spec: "core:4 socket:2 host:4" + betzyLinks, full: "core:16 socket:2 host:4" + betzyLinks,
			printed: []reinfjellShare{
				{truth.Socket, nil, 8, 1, "all but kmeans"},
				{truth.Node, []string{"average", "hdbscan"}, 8, 1, "average, hdbscan"},
				{truth.Node, []string{"ssstree"}, 8, 0.5, "ssstree"},
			},
			each: 4,
		},
		{name: "HPCLAB", nodes: 1, cores: 4, purpose: "baseline", spec: "core:4 host:1", groups: 1},
	}
}

// A reinfjellRun is a machine that was measured with each number of repetitions.
type reinfjellRun struct {
	reinfjellMachine
	reps    []int
	results []*plogp.Result // by repetitions
	truth   []truth.Level   // machine, node and socket; nil: not known
	noun    string          // for figures: FRAM, 4 nodes
}

// simulate repeats it on simulated machines.
func (o *reinfjellOptions) simulate(ctx context.Context, s *stage) (*outcome.Outcome, error) {
	own := *o
	if err := own.read(s.full); err != nil {
		return nil, err
	}
	machines := reinfjellMachines()
	out := &outcome.Outcome{Name: "reinfjell", Source: reinfjellTitle, Where: "Simulated, with times that scatter by 30 % and are 1.5 to 10 times as long in 5 % of all cases."}
	if !s.full {
		out.Where += " Four nodes and more have a quarter of the cores of the thesis, or fewer: --full has them all, but for BETZY's."
	}
	var runs []*reinfjellRun
	for i := range machines {
		m := &machines[i]
		if s.full && m.full != "" {
			m.spec = m.full
		}
		run, err := own.simulated(ctx, s, *m)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	if err := own.groups(ctx, out, runs); err != nil {
		return nil, err
	}
	if err := own.duration(ctx, out, s.full); err != nil {
		return nil, err
	}
	return out, simulatedBroadcasts(ctx, out, s, broadcastMachines())
}

// simulated measures a machine with each number of repetitions.
func (o *reinfjellOptions) simulated(ctx context.Context, s *stage, m reinfjellMachine) (*reinfjellRun, error) {
	c, err := cli.SimulatedCluster(m.spec)
	if err != nil {
		return nil, err
	}
	run := &reinfjellRun{reinfjellMachine: m, reps: o.reps, truth: simulatedTruth(c), noun: m.name}
	if m.nodes > 0 {
		run.noun = fmt.Sprintf("%s, %s of %s", m.name, words.Count(m.nodes, "node"), words.Count(c.Graph.Hosts()/m.nodes, "core"))
	}
	for _, r := range o.reps {
		fmt.Fprintf(s.progress, "%s: %d ranks, R = %d\n", run.noun, c.Graph.Hosts(), r)
		result, _, err := o.parameters(ctx, c, &plogp.Settings{Longest: 1, Samples: r})
		if err != nil {
			return nil, err
		}
		run.results = append(run.results, result)
	}
	return run, nil
}

const reinfjellTitle = "Reinfjell 2023: Topology detection by pairwise PLogP measurements and topology-aware broadcast (master's thesis, NTNU)."

// longestSimulated row of messages of simulated ranks: their times scatter so much that rows never settle.
const longestSimulated = 40

// settings of a simulated machine.
func (o *reinfjellOptions) settings(c *simnet.Cluster) *simnet.Settings {
	settings := c.Settings()
	settings.Send.Seconds, settings.Recv.Seconds = reinfjellOverhead, reinfjellOverhead
	settings.Noise, settings.Seed = o.noise, o.seed
	if o.noise == (simnet.Noise{}) {
		settings.Noise = simnet.Noise{Sigma: 0.3, Outliers: 0.05}
	}
	return settings
}

// parameters measures a simulated cluster, and tells how long that took in s of virtual time.
func (o *reinfjellOptions) parameters(ctx context.Context, c *simnet.Cluster, s *plogp.Settings) (r *plogp.Result, took float64, err error) {
	settings := o.settings(c)
	s.SaturatedUpTo, s.LongestRow, s.Seed = -1, longestSimulated, 1
	err = simnet.Run(c.Graph, nil, settings, func(comm mpi.Communicator) error {
		own := *s // share nothing
		got, err := plogp.Measure(ctx, comm, &own)
		if comm.Rank() == 0 {
			r = got
			if clock, ok := comm.(mpi.Clock); ok {
				took = clock.Now()
			}
		}
		return err
	})
	return r, took, err
}

// simulatedTruth are the machines, nodes and sockets of a cluster. A level that it has one of is all of it.
func simulatedTruth(c *simnet.Cluster) []truth.Level {
	known := truth.OfHierarchy(c.Hierarchy)
	cuts := cluster.Cuts(c.Hierarchy)
	above := cuts[len(cuts)-1] // all
	var levels []truth.Level
	for _, name := range []string{truth.Machine, truth.Node, truth.Socket} {
		if i := slices.IndexFunc(known, func(l truth.Level) bool { return l.Name == name }); i >= 0 {
			above = known[i].Labels
		} else if name == truth.Node && c.Node == nil {
			return levels // hosts of one core
		}
		levels = append(levels, truth.Level{Name: name, Labels: above})
	}
	return levels
}

// nodesOf are the nodes of a cluster as groups to measure at the same time; nil: it has one.
func nodesOf(c *simnet.Cluster) (*topology.Hierarchy, error) {
	var groups []topology.Group
	for _, g := range cluster.Labels(c.Node).Groups() {
		if len(g) == c.Graph.Hosts() {
			return nil, nil
		}
		groups = append(groups, topology.Group{Hosts: g})
	}
	return topology.NewHierarchy(c.Graph.Hosts(), make([]topology.Level, 1), groups, 0)
}
