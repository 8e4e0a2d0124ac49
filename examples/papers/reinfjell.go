package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

func reinfjellSource() source {
	return source{
		name:  "reinfjell",
		title: "Reinfjell 2023: Topology detection by pairwise PLogP measurements and topology-aware broadcast (master's thesis, NTNU).",
		short: "Cluster ranks by PLogP times, and broadcast (Reinfjell 2023)",
		long: `Reinfjell repeats the experiments of Reinfjell 2023: it measures the PLogP parameters of all pairs with R
repetitions, clusters the ranks by several methods with the parameter search of section 3.3, and holds the clusters
against the machines, nodes and sockets that there are (figures 7.1 to 7.5). It looks at the time to measure (5.18), and at
which broadcast is the fastest by size and number of ranks (chapter 6).

The simulated machines have the thesis' latencies and, of four nodes and more, fewer cores; --full takes as many
as the thesis had, but for BETZY, and R up to 128. In a job, repetitions for which --budget
is short are left out; topocast bcast times its broadcasts beside the library's own.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := new(reinfjellOptions)
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
type reinfjellOptions struct{ list string } // of repetitions

// reps are the repetitions, the fewest first.
func (o *reinfjellOptions) reps(full bool) ([]int, error) {
	list := cmp.Or(o.list, reinfjellReps)
	if o.list == "" && full {
		list = reinfjellFullReps
	}
	reps, err := cli.ParseSizes(list)
	if err != nil || slices.Min(reps) < 1 {
		return nil, cli.BadInput("--reps %s: want numbers of at least 1, such as %s", list, reinfjellReps)
	}
	slices.Sort(reps)
	return slices.Compact(reps), nil
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
	methods []string // nil: all but K-means, which its results do not name
	reps    int
	share   float64
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

func reinfjellMachines() []reinfjellMachine {
	return []reinfjellMachine{
		{
			name: "FRAM", nodes: 1, cores: 32, purpose: "node internal topology", figure: "7.1", groups: 2,
			spec:    "core:16 socket:2 host:1 latency=250ns,125ns,75ns",
			printed: []reinfjellShare{{truth.Machine, nil, 8, 1}, {truth.Node, nil, 8, 1}, {truth.Socket, nil, 8, 1}},
		},
		{
			name: "FRAM", nodes: 2, cores: 32, purpose: "inter-node topology", figure: "7.2",
			spec: "core:16 socket:2 host:2 latency=250ns,125ns,75ns",
			printed: []reinfjellShare{
				// Methods that are told the number of groups, but for spectral clustering, of which the thesis says otherwise (5.2, 5.9).
				{truth.Socket, []string{"kmedoids", "average"}, 8, 1},
				{truth.Socket, []string{"hdbscan", "components"}, 8, 1},
				{truth.Socket, []string{"ssstree"}, 128, 1},
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
				{truth.Socket, nil, 8, 1},
				{truth.Node, []string{"average", "hdbscan"}, 8, 1},
				{truth.Node, []string{"ssstree"}, 8, 0.5},
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

func (o *reinfjellOptions) simulate(ctx context.Context, s *stage) error {
	reps, err := o.reps(s.full)
	if err != nil {
		return err
	}
	s.out.Where = "Simulated, with times that scatter by 30 % and are 1.5 to 10 times as long in 5 % of all cases."
	if !s.full {
		s.out.Where += " Four nodes and more have a quarter of the cores of the thesis, or fewer: --full has them all, but for BETZY's."
	}
	var runs []*reinfjellRun
	for _, m := range reinfjellMachines() {
		if s.full {
			m.spec = cmp.Or(m.full, m.spec)
		}
		run, err := simulatedRun(ctx, s, m, reps)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	if err := accuracies(ctx, s.out, runs); err != nil {
		return err
	}
	if err := measuringTimes(ctx, s); err != nil {
		return err
	}
	return simulatedBroadcasts(ctx, s, broadcastMachines())
}

// simulatedRun measures a machine with each number of repetitions.
func simulatedRun(ctx context.Context, s *stage, m reinfjellMachine, reps []int) (*reinfjellRun, error) {
	c, err := cli.SimulatedCluster(m.spec)
	if err != nil {
		return nil, err
	}
	run := &reinfjellRun{reinfjellMachine: m, reps: reps, truth: simulatedTruth(c), noun: m.name}
	if m.nodes > 0 {
		run.noun = fmt.Sprintf("%s, %s of %s", m.name, words.Count(m.nodes, "node"), words.Count(c.Graph.Hosts()/m.nodes, "core"))
	}
	for _, r := range reps {
		fmt.Fprintf(s.progress, "%s: %d ranks, R = %d\n", run.noun, c.Graph.Hosts(), r)
		found, err := parameters(ctx, c, usualNoise(), plogp.Settings{Longest: 1, Samples: r})
		if err != nil {
			return nil, err
		}
		run.results = append(run.results, found.Result)
	}
	return run, nil
}

// longestSimulated row of messages of simulated ranks: their times scatter so much that rows never settle.
const longestSimulated = 40

// usualNoise is that of the outcome's first line.
func usualNoise() simnet.Noise { return simnet.Noise{Sigma: 0.3, Outliers: 0.05} }

// timedParameters are those of all pairs.
type timedParameters struct {
	*plogp.Result
	took float64 // s of virtual time to measure them
}

// parameters measures a simulated cluster.
func parameters(ctx context.Context, c *simnet.Cluster, noise simnet.Noise, s plogp.Settings) (timedParameters, error) {
	settings := c.Settings()
	settings.Send.Seconds, settings.Recv.Seconds = reinfjellOverhead, reinfjellOverhead
	settings.Noise, settings.Seed = noise, 1
	s.Fast, s.LongestRow, s.Seed = true, longestSimulated, 1
	return onSimulated(c, nil, settings, func(comm mpi.Communicator) (timedParameters, error) {
		own := s // share nothing
		found, err := plogp.Measure(ctx, comm, &own)
		return timedParameters{found, comm.(mpi.Clock).Now()}, err
	})
}

// simulatedTruth are the machines, nodes and sockets of a cluster. A level that it has one of is all of it.
func simulatedTruth(c *simnet.Cluster) []truth.Level {
	known := truth.OfHierarchy(c.Hierarchy)
	cuts := truth.Cuts(c.Hierarchy)
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

// fewestClustered ranks make groups and something outside them.
const fewestClustered = 3

// jobRow is the longest row of messages of a pair: RTT(0), which the tables are made of, needs none.
const jobRow = 16

// measure clusters the ranks of a job, and holds the clusters against what the job knows of its hosts. Broadcasts of a job are what
// topocast bcast times.
func (o *reinfjellOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) error {
	list, err := o.reps(s.full)
	if err != nil {
		return err
	}
	if comm.Size() < fewestClustered {
		return cli.BadInput("%s: want %d at least", words.Count(comm.Size(), "rank"), fewestClustered)
	}
	job, err := record.Gather(comm, pingpong.New(comm, 0, 1))
	if err != nil {
		return err
	}
	run := &reinfjellRun{reinfjellMachine: reinfjellMachine{name: "this job", purpose: "as it is", figure: "7.1"}}
	if comm.Rank() == 0 {
		run.nodes = truth.Number(job.Hosts).Clusters()
		run.cores = job.Ranks / run.nodes
		run.noun = fmt.Sprintf("%s on %s", words.Count(job.Ranks, "rank"), words.Count(run.nodes, "host"))
		run.truth = slices.Concat(truth.OfHosts(job), truth.OfNUMA(job))
		s.out.Where = fmt.Sprintf("%s, %s.", cmp.Or(strings.TrimSpace(job.Library), "No message-passing library"), run.noun)
	}
	budget := s.budget.split(len(list))
	for _, reps := range list {
		r, err := plogp.Measure(ctx, comm, &plogp.Settings{Control: harness.Control{Budget: budget.next()}, Longest: 1, Samples: reps, Fast: true, LongestRow: jobRow, Seed: 1})
		if err != nil {
			return err
		}
		if comm.Rank() != 0 {
			continue
		}
		if r.Stopped != "" { // tables of accuracy want whole matrices
			s.out.Warn("R = %d: stopped by the %s after %d pairs: left out; give it a larger one", reps, r.Stopped, len(r.Pairs)/2)
			continue
		}
		run.reps, run.results = append(run.reps, reps), append(run.results, r)
	}
	if len(run.results) > 0 {
		err = accuracies(ctx, s.out, []*reinfjellRun{run})
	}
	return harness.Agree(comm, nil, err)
}
