package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

func bannikovSource() source {
	return source{
		name:  "bannikov",
		title: "Bannikov, Salnikov 2014: Recovering the topology of a computing cluster from delays of messages (in Russian).",
		short: "Direct wiring by message length, merged (Bannikov, Salnikov 2014)",
		long: `Bannikov repeats the experiments of Bannikov and Salnikov 2014: latencies of all pairs for several message
lengths; for each length the topology that their algorithm finds (section 2.1), all of them merged, with the probability
of each arc; how much of the specification is in it, in per cent (section 2.3); drawings (section 2.2); and how long the
algorithm takes (their table).

It simulates a torus, as that of BlueGene/P, once with times that are exact and without
overheads, which the algorithm wants, and once as real ones are, and a fat tree, as that of Lomonosov.`,
		begin: func(f *pflag.FlagSet) experiment {
			o := new(bannikovOptions)
			cli.Parse(f, &o.sizes, "sizes", "0,1KiB,64KiB", "message lengths, by commas", cli.ParseSizes)
			return o
		},
	}
}

// bannikovOptions set the experiment.
type bannikovOptions struct{ sizes []int } // lengths of messages

// A bannikovMachine is one on which the algorithm is tried.
type bannikovMachine struct {
	name, title, spec string
	exact             bool // no noise and no overheads
}

// bannikovSpread is eps_s and eps_d: of latencies on shared memory, and of the two directions of a channel.
const bannikovSpread = 0.01

func (o *bannikovOptions) simulate(ctx context.Context, s *stage) error {
	torus := "torus:4x4x4"
	if s.full {
		torus = "torus:8x8x8" // 512 processors, as in figure 1
	}
	torus += " latency=1us rate=3.4Gbps"
	const tree = "fattree:4 latency=1us rate=32Gbps"
	s.out.Where = fmt.Sprintf("Simulated: %s, and %s.", torus, tree)
	for _, m := range []bannikovMachine{
		{"machine-1", "a torus, exact", torus, true},
		{"machine-2", "a torus, as measured", torus, false},
		{"machine-3", "a fat tree", tree, false},
	} {
		if err := o.simulated(ctx, s, m); err != nil {
			return err
		}
	}
	return greedyTimes(s.out)
}

// simulated tries the algorithm on a machine.
func (o *bannikovOptions) simulated(ctx context.Context, s *stage, m bannikovMachine) error {
	sizes := slices.Sorted(slices.Values(o.sizes))
	cluster, err := cli.SimulatedCluster(m.spec)
	if err != nil {
		return err
	}
	settings := usualSettings(cluster)
	if m.exact {
		settings = cluster.Settings()
	}
	settings.EagerLimit = slices.Max(sizes) // long messages do not ask before they leave
	measured, err := onSimulated(cluster, nil, settings, func(comm mpi.Communicator) (*measure.Result, error) { return bannikovLatencies(ctx, comm, s, sizes) })
	if err != nil {
		return err
	}
	return bannikovSection(s.out, m.name, m.title, measured, cluster.Graph)
}

func (o *bannikovOptions) measure(ctx context.Context, comm mpi.Communicator, s *stage) error {
	sizes := slices.Sorted(slices.Values(o.sizes))
	if comm.Size() < 3 {
		return cli.BadInput("%s: want at least 3 to tell their wiring", words.Count(comm.Size(), "rank"))
	}
	measured, err := bannikovLatencies(ctx, comm, s, sizes)
	if err != nil || comm.Rank() != 0 {
		return err
	}
	s.out.Where = fmt.Sprintf("%s. %s", words.Count(comm.Size(), "rank"), measured.Library)
	return bannikovSection(s.out, "machine-1", "this job", measured, nil)
}

// bannikovLatencies are those of all pairs for all lengths. It is collective; others than rank 0 get nil.
func bannikovLatencies(ctx context.Context, comm mpi.Communicator, s *stage, sizes []int) (*measure.Result, error) {
	if err := cli.CheckMemory(comm, sizes); err != nil {
		return nil, err
	}
	settings := &measure.Settings{Sizes: sizes, Date: cli.Date(comm), Sampling: measure.Sampling{Repetitions: 3, Seed: 1}, Control: harness.Control{Budget: s.budget.next()}}
	if isSimulated(comm) {
		settings = &measure.Settings{Sizes: sizes, Pairs: harness.Pairs{Sequential: true}, Sampling: measure.Sampling{Repetitions: 1, Samples: cli.SimulatedSamples, Seed: 1}}
	}
	return measure.Run(ctx, comm, settings)
}
