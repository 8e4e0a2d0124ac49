package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/benchmark"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

func bcastCommand(shared *cli.Flags) *cobra.Command {
	var (
		sources []groupSource
		budget  time.Duration
		s       benchmark.Settings
		rows    *cli.Output
	)
	c := &cobra.Command{
		Use:   "bcast [NET]",
		Short: "Time broadcasts: ours, native MPI_Bcast and each algorithm",
		Long: `Bcast times the broadcast that topocast chooses, native MPI_Bcast and every algorithm, in turn on the same
buffers, and compares every byte on every rank. A time goes from the start of the root until the last rank has
the data. On several hosts the clocks are compared by messages, and the largest error of that is printed.

Columns: "median" has an interval that holds the true one with 95 %, or "too few samples". "gain" is the ratio to
native MPI_Bcast, round by round. "of bound" is the median over the shortest time that the links of NET allow: the
latency to the last rank, and the bytes over the slowest link to it.

` + topologyHelp + `

--only names what is compared: ours, native, and algorithms. Native alone tunes nothing. Bine, two-tree, scatter-ring,
scatter-doubling, leaders, magpie and interpipe are timed only if they are named: ours considers them then, too. The JSON also holds the
library's settings, which topocast bcast rules reads. Start it by mpirun, one process per rank. Without mpirun the
ranks are threads pinned to the cores.

The first broadcast of each size chooses its plan, which takes 50 to 100 broadcasts, for at most --budget. Native
stays where that is too short. Without NET the job is first measured and its wiring reconstructed, for at most
--budget, too. With NET, ranks are matched by the hosts and cores on which they run, in any order. Warnings say what does not match.

Ctrl-C (SIGINT, SIGTERM) ends it before the next broadcast; what was timed until
then is printed.`,
		Example: `  mpirun -n 8 topocast bcast --sizes 8,64KiB,1MiB
  mpirun -n 8 topocast bcast cluster.json --root 3 --json
  mpirun -n 8 topocast bcast --only ours,native --repetitions 51 --csv times.csv
  mpirun -n 8 topocast bcast cluster.json --topology found,hosts,flat
  topocast bcast --sim "fattree:8,8;1,4" --placement shuffled --sizes 1MiB`,
		Args: cli.Args(1, wantNetwork),
		RunE: func(c *cobra.Command, args []string) error {
			var known *model.Network
			if len(args) > 0 {
				var err error
				if known, err = loadOnRanks(args[0]); err != nil {
					return err
				}
			}
			shared.Work = func(ranks int) cli.Work {
				w := cli.Work{Remedy: "--sizes, --only or --ranks"}
				if known == nil {
					w = (&discoverOptions{repetitions: defaultRepetitions}).work(ranks)
					w.Remedy = "NET, --only or --ranks"
				}
				w.Pairs += timedPerRank * float64(ranks*len(s.Sizes)*(s.Repetitions+s.WarmUps))
				return w
			}
			return shared.Run(c, func(comm mpi.Communicator) error {
				if s.Root < 0 || s.Root >= comm.Size() {
					return cli.BadInput("--root %d: want in [0, %d)", s.Root, comm.Size())
				}
				if known != nil {
					if err := fits(args[0], known, comm); err != nil {
						return err
					}
				}
				if err := cli.CheckMemory(comm, s.Sizes); err != nil {
					return err
				}
				report, err := benchmarkBcast(c.Context(), comm, known, sources, budget, shared, &s, c.ErrOrStderr())
				if err != nil || comm.Rank() != 0 {
					return err
				}
				_, unsaved := rows.Save(report.WriteCSV)
				return cmp.Or(unsaved, shared.Print(c, report.WriteText, report.Write))
			})
		},
	}
	f := c.Flags()
	cli.Parse(f, &s.Sizes, "sizes", "8,1KiB,64KiB,1MiB", cli.SizeLists, cli.ParseAllSizes)
	f.StringSliceVar(&s.Only, "only", nil, "variants to compare: ours, native, names of algorithms, by commas; default: all")
	f.IntVar(&s.Root, "root", 0, "rank that broadcasts")
	// An odd number, so that the median is one of the times. Its rank is sure to 5 places up or down with 95 %.
	f.IntVar(&s.Repetitions, "repetitions", 21, "timed repetitions of each variant and size")
	cli.Want(f, "repetitions", "at least 1", func() bool { return s.Repetitions >= 1 })
	f.IntVar(&s.WarmUps, "warm-ups", 2, "repetitions before those that are timed")
	cli.Want(f, "warm-ups", "at least 1", func() bool { return s.WarmUps >= 1 })
	rows = shared.Output(c, "csv", "", "", "file for the rows as CSV")
	addTopologyFlag(f, &sources)
	f.DurationVar(&budget, "budget", 10*time.Second, "longest time to measure the job without NET, and to choose the plan for a size")
	cli.Want(f, "budget", "above 0", func() bool { return budget > 0 })
	c.AddCommand(tuneCommand(shared), rulesCommand(shared))
	return cli.Measures(cli.PrintsJSON(c, "topocast/bcast-benchmark"))
}

// timedPerRank is how many pairs take as long, per rank, as a timed repetition of all variants, and as choosing a plan for them:
// by the user time for 64 simulated ranks.
const timedPerRank = 35

// longMessage is a size in bytes for which choosing a plan takes so long that people wonder.
const longMessage = 16 << 20

// benchmarkBcast is collective.
func benchmarkBcast(ctx context.Context, comm mpi.Communicator, network *model.Network, sources []groupSource, budget time.Duration, shared *cli.Flags, s *benchmark.Settings, stderr io.Writer) (*benchmark.Report, error) {
	if network == nil {
		d, err := discover(ctx, comm, &discoverOptions{budget: budget, repetitions: defaultRepetitions, timeout: shared.Timeout, quiet: shared.JSON}, stderr)
		if err != nil {
			return nil, err
		}
		network = d.network
	}
	defer cli.LimitCalls(comm, shared.Timeout)() // measuring has a limit of its own
	settings := &bcast.Settings{Network: network, Budget: budget}
	if slices.ContainsFunc(classic.Algorithms(), func(a schedule.Algorithm) bool { return slices.Contains(s.Only, a.Name()) }) {
		settings.Algorithms = slices.Concat(schedule.Algorithms(), []schedule.Algorithm{schedule.NativeGroups{}}, classic.Algorithms())
	}
	b, err := newBroadcaster(comm, settings, sources, stderr)
	if err != nil {
		return nil, err
	}
	if _, has := comm.(mpi.NativeBcast); !has && slices.Contains(s.Only, table.Native) {
		return nil, cli.BadInput("--only %s: simulated ranks have no MPI library, and so no native MPI_Bcast", table.Native)
	}
	if err := s.CheckNames(b); err != nil {
		return nil, cli.BadInput("--only %w", err)
	}
	if longest := slices.Max(s.Sizes); longest >= longMessage && comm.Rank() == 0 && (s.Only == nil || slices.Contains(s.Only, benchmark.Ours)) {
		fmt.Fprintf(stderr, "choosing the plan for %s takes up to %v: see --budget\n", quantity.Bytes(longest), budget)
	}
	report, err := benchmark.Run(ctx, comm, b, s)
	if err != nil {
		return nil, err
	}
	return report, b.Close()
}

// fits refuses a network that cannot be that of the job.
func fits(name string, network *model.Network, comm mpi.Communicator) error {
	if network.Hosts() == nil && network.Ranks() != comm.Size() {
		return cli.BadInput("%s: the file has %s and does not say where they ran, the job has %d", name, words.Count(network.Ranks(), "rank"), comm.Size())
	}
	return nil
}

// newBroadcaster is collective. On rank 0 it prints why the network may not be that of the job.
func newBroadcaster(comm mpi.Communicator, s *bcast.Settings, sources []groupSource, stderr io.Writer) (b *bcast.Broadcaster, err error) {
	if s.Topologies, err = topologiesOf(comm, s.Network, sources, stderr); err != nil {
		return nil, err
	}
	if b, err = bcast.New(comm, s); err == nil && comm.Rank() == 0 {
		writeWarnings(stderr, "", b.Warnings())
	}
	return b, err
}
