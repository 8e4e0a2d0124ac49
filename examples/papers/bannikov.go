package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/spanner"
)

func bannikovSource() source {
	return source{
		name:  "bannikov",
		short: "Direct wiring by message length, merged (Bannikov, Salnikov 2014)",
		long: `Bannikov repeats the experiments of Bannikov and Salnikov 2014: latencies of all pairs for several message
lengths; for each length the topology that their algorithm finds (section 2.1), all of them merged, with the probability
of each arc; how much of the specification is in it, in per cent (section 2.3); drawings (section 2.2); and how long the
algorithm takes (their table).

It simulates a torus, as that of BlueGene/P, once with times that are exact and without
overheads, which the algorithm wants, and once as real ones are, and a fat tree, as that of Lomonosov.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := new(bannikovOptions)
			f.StringVar(&o.list, "sizes", "0,1KiB,64KiB", "message lengths, by commas")
			return o
		},
	}
}

// bannikovOptions set the experiment.
type bannikovOptions struct {
	list  string // message lengths
	sizes []int
}

func (o *bannikovOptions) read() (*bannikovOptions, error) {
	own := *o
	var err error
	if own.sizes, err = cli.ParseSizes(own.list); err != nil {
		return nil, err
	}
	slices.Sort(own.sizes)
	return &own, nil
}

// A bannikovMachine is one on which the algorithm is tried.
type bannikovMachine struct {
	name, spec string
	exact      bool // no noise and no overheads
}

// spread is eps_s and eps_d: of latencies on shared memory, and of the two directions of a channel.
const spread = 0.01

// fatTree is the name of the machine like Lomonosov, of which the paper says what the algorithm finds.
const fatTree = "a fat tree"

func newBannikovOutcome() *outcome.Outcome {
	return &outcome.Outcome{Name: "bannikov", Source: "Bannikov, Salnikov 2014: Recovering the topology of a computing cluster from delays of messages (in Russian)."}
}

func (o *bannikovOptions) simulate(ctx context.Context, s *stage) (*outcome.Outcome, error) {
	own, err := o.read()
	if err != nil {
		return nil, err
	}
	torus := "torus:4x4x4"
	if s.full {
		torus = "torus:8x8x8" // 512 processors, as in figure 1
	}
	const rates = " latency=1us rate=3.4Gbps"
	machines := []bannikovMachine{
		{"a torus, exact", torus + rates, true},
		{"a torus, as measured", torus + rates, false},
		{fatTree, "fattree:4 latency=1us rate=32Gbps", false},
	}
	out := newBannikovOutcome()
	out.Where = fmt.Sprintf("Simulated: %s, and %s.", machines[0].spec, machines[2].spec)
	for i, m := range machines {
		r, err := own.simulated(ctx, out, fmt.Sprintf("machine-%d", i+1), m)
		if err != nil {
			return nil, err
		}
		if m.name == fatTree {
			r.section.Compare(outcome.About, "arcs found, of all: \"a complete graph\"", "%", 100, arcShare(r.merged.Graph))
		}
	}
	return out, greedyTimes(out)
}

// simulated tries the algorithm on a machine.
func (o *bannikovOptions) simulated(ctx context.Context, out *outcome.Outcome, name string, m bannikovMachine) (*bannikovReport, error) {
	cluster, err := cli.SimulatedCluster(m.spec)
	if err != nil {
		return nil, err
	}
	settings := cluster.Settings()
	settings.EagerLimit = slices.Max(o.sizes) // long messages do not ask before they leave
	if !m.exact {
		settings.Send.Seconds, settings.Recv.Seconds = cli.DefaultOverhead.Seconds(), cli.DefaultOverhead.Seconds()
		settings.Noise, settings.Seed = simnet.Noise{Sigma: 0.01}, 1
	}
	measured, err := onSimulated(cluster, nil, settings, func(comm mpi.Communicator) (*measure.Result, error) { return o.readings(ctx, comm, new(stage)) })
	if err != nil {
		return nil, err
	}
	return o.section(out, name, m.name, measured, cluster.Graph)
}

func (o *bannikovOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) (*outcome.Outcome, error) {
	own, err := o.read()
	if err != nil {
		return nil, err
	}
	if comm.Size() < 3 {
		return nil, cli.BadInput("%s: want at least 3 to tell their wiring", words.Count(comm.Size(), "rank"))
	}
	measured, err := own.readings(ctx, comm, s)
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	out := newBannikovOutcome()
	out.Where = fmt.Sprintf("%s. %s", words.Count(comm.Size(), "rank"), measured.Library)
	_, err = own.section(out, "machine-1", "this job", measured, nil)
	return out, err
}

// readings are latencies of all pairs for all lengths; collective, nil on other ranks than 0.
func (o *bannikovOptions) readings(ctx context.Context, comm mpi.Communicator, s *stage) (*measure.Result, error) {
	if err := cli.CheckMemory(comm, o.sizes); err != nil {
		return nil, err
	}
	settings := &measure.Settings{Sizes: o.sizes, Repetitions: 3, Seed: 1, Budget: s.budget, Date: cli.Date(comm)}
	if _, is := comm.(*simnet.Comm); is {
		settings = &measure.Settings{Pairs: harness.Pairs{Sequential: true}, Sizes: o.sizes, Repetitions: 1, Samples: cli.SimulatedSamples, Seed: 1}
	}
	return measure.Run(ctx, comm, settings)
}

// bannikovFound are the topologies of all lengths, and of them merged.
type bannikovFound struct {
	times  []*mat.Dense // by length
	local  []*topology.Result
	merged *topology.Result
}

func (o *bannikovOptions) find(measured *measure.Result) (*bannikovFound, error) {
	found := &bannikovFound{}
	greedy := &spanner.GreedyCycle{SharedSpread: spread, DuplexSpread: spread}
	var sized []spanner.Sized
	for i, bytes := range o.sizes {
		m, err := typical(measured, measure.LowerQuartile, i)
		if err != nil {
			return nil, err
		}
		found.times = append(found.times, m)
		sized = append(sized, spanner.Sized{Bytes: int64(bytes), Repetitions: []mat.Matrix{m}})
		r, err := greedy.Reconstruct(m)
		if err != nil {
			return nil, err
		}
		found.local = append(found.local, r)
	}
	var err error
	found.merged, err = greedy.ReconstructSizes(sized...)
	return found, err
}
