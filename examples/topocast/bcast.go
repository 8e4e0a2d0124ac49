package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

func bcastCommand(run runner) *cobra.Command {
	var (
		sizes, network    string
		ranks, root, reps int
		budget            time.Duration
		asJSON            bool
	)
	c := &cobra.Command{
		Use:   "bcast [flags]",
		Short: "Time our broadcast and the library's own on the same buffers",
		Long: `Bcast times, turn by turn on the same buffers, the broadcast that topocast
chooses, the library's own and every algorithm, and compares every byte on every
rank. A time goes from the moment when the root starts until the last rank has
the data; on several hosts the clocks are compared by messages, and the largest
error that this leaves is printed. Start it by mpirun, one process per rank, with
a binary built by CC=mpicc go build -tags mpi; without mpirun the ranks are
threads pinned to the cores.

Without --network the job is first measured and its wiring reconstructed, for at
most --budget. With it, the ranks may be others than those that were measured,
or in another order: where they run decides, and warnings say what does not fit.

Ctrl-C (SIGINT, SIGTERM) ends it before the next broadcast; what was timed until
then is printed.`,
		Example: `  mpirun -n 8 topocast bcast --sizes 8,64KiB,1MiB
  mpirun -n 8 topocast bcast --network cluster.json --root 3 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := parseSizes(sizes)
			if err != nil {
				return err
			}
			if reps < 1 {
				return badInput("--reps %d: want at least 1", reps)
			}
			var known *model.Network
			if network != "" {
				if err := refuseUnused(c, "with --network nothing is measured first", "budget"); err != nil {
					return err
				}
				if known, err = loadNetwork(network); err != nil {
					return err
				}
			}
			return run(ranks, func(comm mpi.Communicator) error {
				if root < 0 || root >= comm.Size() {
					return badInput("--root %d: want in [0, %d)", root, comm.Size())
				}
				return benchmarkBcast(c.Context(), comm, known, budget, &bcast.BenchmarkSettings{Sizes: list, Root: root, Repetitions: reps}, asJSON, c.OutOrStdout(), c.ErrOrStderr())
			})
		},
	}
	f := c.Flags()
	f.StringVar(&sizes, "sizes", "8,1KiB,64KiB,1MiB", "message sizes, such as "+sizeForms+", by commas")
	f.IntVar(&root, "root", 0, "rank that broadcasts")
	f.IntVar(&reps, "reps", 21, "timed repetitions of each variant and size")
	f.StringVar(&network, "network", "", "network file of topocast discover; default: measure now")
	f.DurationVar(&budget, "budget", 10*time.Second, "longest time to measure without --network")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per core")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/bcast-benchmark) instead of a table")
	return c
}

// benchmarkBcast is collective; rank 0 prints.
func benchmarkBcast(ctx context.Context, comm mpi.Communicator, network *model.Network, budget time.Duration, s *bcast.BenchmarkSettings, asJSON bool, stdout, stderr io.Writer) error {
	if network == nil {
		d, err := discover(ctx, comm, &measureOptions{budget: budget, repetitions: defaultRepetitions, quiet: asJSON}, stdout, stderr)
		if err != nil {
			return err
		}
		network = d.network
	} else if network.Hosts() == nil && network.Ranks() != comm.Size() {
		return badInput("--network: the file has %d ranks and does not say where they ran, the job has %d", network.Ranks(), comm.Size())
	}
	b, err := bcast.New(comm, &bcast.Settings{Network: network})
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		for _, warning := range b.Warnings() {
			fmt.Fprintf(stderr, "warning: %s\n", warning)
		}
	}
	report, err := bcast.Benchmark(ctx, b, s)
	if err != nil || comm.Rank() != 0 {
		return err
	}
	if asJSON {
		return report.Write(stdout)
	}
	return report.WriteText(stdout)
}
