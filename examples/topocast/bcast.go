package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

func bcastCommand(run runner) *cobra.Command {
	var (
		sizes, network, table string
		only, topologies      []string
		ranks                 int
		budget, silence       time.Duration
		asJSON                bool
		s                     bcast.BenchmarkSettings
	)
	c := &cobra.Command{
		Use:   "bcast [flags]",
		Short: "Time broadcasts, ours and the library's own, on the same buffers",
		Long: `Bcast times, turn by turn on the same buffers, the broadcast that topocast
chooses, the library's own and every algorithm, and compares every byte on every
rank. A time goes from the moment when the root starts until the last rank has
the data; on several hosts the clocks are compared by messages, and the largest
error that this leaves is printed. Each median has an interval in which the true one is with 95 %, or
"too few samples"; gain is over the library's own broadcast, round by round, and "of bound" the median
over the time below which no broadcast can get: latency to the last rank, and bytes over the slowest link to it.

` + topologyHelp + `

--only names what is compared, ours, native and algorithms; native alone tunes nothing. What topocast rules is told
of the library's settings is in the JSON. Start it by mpirun, one process per rank; without mpirun the ranks are
threads pinned to the cores.

Without --network the job is first measured and its wiring reconstructed, for at
most --budget. With it, the ranks may be others than those that were measured,
or in another order: where they run decides, and warnings say what does not fit.

Ctrl-C (SIGINT, SIGTERM) ends it before the next broadcast; what was timed until
then is printed.`,
		Example: `  mpirun -n 8 topocast bcast --sizes 8,64KiB,1MiB
  mpirun -n 8 topocast bcast --network cluster.json --root 3 --json
  mpirun -n 8 topocast bcast --only ours,native --repetitions 51 --csv times.csv
  mpirun -n 8 topocast bcast --network cluster.json --topology found,hosts,flat`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if s.Sizes, err = parseSizesUpTo(sizes, math.MaxInt); err != nil {
				return err
			}
			if s.Repetitions < 1 {
				return badInput("--repetitions %d: want at least 1", s.Repetitions)
			}
			if err := checkSilence(silence); err != nil {
				return err
			}
			if s.WarmUps < 1 {
				return badInput("--warm-ups %d: want at least 1", s.WarmUps)
			}
			if c.Flags().Changed("only") {
				s.Only = only
			}
			if asJSON && table == standard {
				return badInput("--json and --csv -: both are standard output")
			}
			rows := outputFile{"--csv", table, c.OutOrStdout()}
			along, err := parseTopologies(topologies)
			if err != nil {
				return err
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
				if s.Root < 0 || s.Root >= comm.Size() {
					return badInput("--root %d: want in [0, %d)", s.Root, comm.Size())
				}
				if err := checkOutputs(comm, rows); err != nil {
					return err
				}
				if err := checkMemory(comm, s.Sizes); err != nil {
					return err
				}
				report, err := benchmarkBcast(c.Context(), comm, known, along, budget, silence, &s, asJSON, reportWriter(c, rows), c.ErrOrStderr())
				if err != nil || comm.Rank() != 0 {
					return err
				}
				_, unsaved := rows.save(report.WriteCSV)
				write := report.WriteText
				if asJSON {
					write = report.Write
				}
				return cmp.Or(unsaved, write(reportWriter(c, rows)))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&sizes, "sizes", "8,1KiB,64KiB,1MiB", sizeLists)
	f.StringSliceVar(&only, "only", nil, "variants to compare: ours, native, names of algorithms, by commas; default: all")
	f.IntVar(&s.Root, "root", 0, "rank that broadcasts")
	f.IntVar(&s.Repetitions, "repetitions", 21, "timed repetitions of each variant and size")
	f.IntVar(&s.WarmUps, "warm-ups", 2, "repetitions before those that are timed")
	f.StringVar(&table, "csv", "", "file for the rows as CSV")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "reps" { // as it was called at first
			name = "repetitions"
		}
		return pflag.NormalizedName(name)
	})
	addTopologyFlag(c, &topologies)
	f.StringVar(&network, "network", "", "network file of topocast discover; default: measure now")
	f.DurationVar(&budget, "budget", 10*time.Second, "longest time to measure without --network")
	f.DurationVar(&silence, "silence", defaultSilence, "how long a rank waits for another before the job ends; below 0: for good")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per core")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/bcast-benchmark) instead of a table")
	return c
}

// benchmarkBcast is collective.
func benchmarkBcast(ctx context.Context, comm mpi.Communicator, network *model.Network, along []bcast.Topology, budget, silence time.Duration, s *bcast.BenchmarkSettings, quiet bool, stdout, stderr io.Writer) (*bcast.Report, error) {
	if network == nil {
		d, err := discover(ctx, comm, &measureOptions{budget: budget, repetitions: defaultRepetitions, silence: silence, quiet: quiet}, stdout, stderr)
		if err != nil {
			return nil, err
		}
		network = d.network
	} else if err := fits("--network", network, comm); err != nil {
		return nil, err
	}
	defer limitCalls(comm, silence)() // measuring has a limit of its own
	b, err := bcast.New(comm, &bcast.Settings{Network: network, Topologies: along})
	if err != nil {
		return nil, err
	}
	warn(comm, b, stderr)
	for _, name := range s.Only {
		if all := b.Variants(); !slices.ContainsFunc(all, func(v string) bool { return bcast.IsWanted(name, v) }) {
			plain := slices.DeleteFunc(all, func(v string) bool { return strings.Contains(v, "(") }) // these stand for all
			return nil, badInput("--only %s: want of %s", name, words.Or(plain))
		}
	}
	report, err := bcast.Benchmark(ctx, b, s)
	if err != nil {
		return nil, err
	}
	return report, b.Close()
}

// fits refuses a network that cannot be that of the job.
func fits(name string, network *model.Network, comm mpi.Communicator) error {
	if network.Hosts() == nil && network.Ranks() != comm.Size() {
		return badInput("%s: the file has %d ranks and does not say where they ran, the job has %d", name, network.Ranks(), comm.Size())
	}
	return nil
}

// warn prints, on rank 0, why the network may not be that of the job.
func warn(comm mpi.Communicator, b *bcast.Broadcaster, stderr io.Writer) {
	if comm.Rank() == 0 {
		for _, warning := range b.Warnings() {
			fmt.Fprintf(stderr, "warning: %s\n", warning)
		}
	}
}
