package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

func tuneCommand(run runner) *cobra.Command {
	var (
		output, sizes, language string
		topologies              []string
		ranks                   int
		budget, silence         time.Duration
	)
	c := &cobra.Command{
		Use:   "tune [flags] NET",
		Short: "Measure how this job broadcasts best, and keep it with the network",
		Long: `Tune compares, on the ranks of the job, the best broadcasts along the network with the library's own, which
stays unless one of them is faster for certain, and writes what it chose into the network's file: applications
with the same ranks on the same hosts and cores, in the same order and under the same library, then start
tuned. Other jobs find nothing there, and may be tuned into the same file. It prints the choice as a decision
function; a size that was not tuned belongs to the next larger one that was. Where roots are of several kinds, as in racks of
different sizes, each kind is tuned.

` + topologyHelp + ` The groups that choices follow are kept with them.

Start it by mpirun. Where there is no library whose
broadcast could be compared, as without mpirun, predictions choose; they are printed and not kept.

Ctrl-C (SIGINT, SIGTERM) ends it before the next size; what was tuned until then
is kept.`,
		Example: `  mpirun -n 64 topocast tune cluster.json
  mpirun -n 64 topocast tune --sizes 1KiB-16MiB --budget 5m --print c \
      cluster.json > choose_bcast.c`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := parseSizesUpTo(sizes, math.MaxInt)
			if err != nil {
				return err
			}
			if budget < 0 {
				return badInput("--budget %v: want at least 0", budget)
			}
			if err := checkSilence(silence); err != nil {
				return err
			}
			l := table.Language(language)
			if err := table.WriteDecision(io.Discard, l, nil); err != nil {
				return badInput("--print %s: want %s", language, words.Or(table.Languages()))
			}
			along, err := parseTopologies(topologies)
			if err != nil {
				return err
			}
			known, err := loadNetwork(args[0])
			if err != nil {
				return err
			}
			network := outputFile{"--output", cmp.Or(output, args[0]), c.OutOrStdout()}
			return run(ranks, func(comm mpi.Communicator) error {
				defer limitCalls(comm, silence)()
				if err := fits(args[0], known, comm); err != nil {
					return err
				}
				if err := checkOutputs(comm, network); err != nil {
					return err
				}
				if err := checkMemory(comm, list); err != nil {
					return err
				}
				tuned, err := tune(c.Context(), comm, known, along, list, budget, c.ErrOrStderr())
				if err != nil || comm.Rank() != 0 {
					return err
				}
				return tuned.keep(reportWriter(c, network), c.ErrOrStderr(), known, network, l)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&sizes, "sizes", "8-8MiB", sizeLists)
	f.DurationVar(&budget, "budget", time.Minute, "longest time to measure; 0: until all is certain")
	addTopologyFlag(c, &topologies)
	f.StringVarP(&output, "output", "o", "", "file for the network (default: NET; of simulated ranks simulated-network.json)")
	f.StringVar(&language, "print", string(table.Text), "the decision function as "+words.Or(table.Languages()))
	f.DurationVar(&silence, "silence", defaultSilence, "how long a rank waits for another before the job ends; below 0: for good")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per core")
	return c
}

// A tuned is what tune found, on rank 0.
type tuned struct {
	tuning    table.Tuning
	measured  bool     // against the library's own broadcast
	undecided []string // sizes
}

// tune is collective.
func tune(ctx context.Context, comm mpi.Communicator, network *model.Network, along []bcast.Topology, sizes []int, budget time.Duration, stderr io.Writer) (*tuned, error) {
	// What was tuned before is measured anew.
	network, err := network.WithBcastTable(nil)
	if err != nil {
		return nil, err
	}
	if budget > 0 { // 0 is none
		budget = max(1, budget/time.Duration(len(sizes)))
	}
	b, err := bcast.New(comm, &bcast.Settings{Network: network, Topologies: along, Budget: budget})
	if err != nil {
		return nil, err
	}
	warn(comm, b, stderr)
	found := &tuned{}
	_, found.measured = comm.(mpi.NativeBcast)
	for done, size := range sizes {
		ended, failed := share.Star(comm, 0, 0).Agree(ctx.Err()) // rank 0's
		switch {
		case failed != nil:
			return nil, fmt.Errorf("tune: %w", failed)
		case ended != nil:
			if comm.Rank() == 0 {
				fmt.Fprintf(stderr, "stopped before %s: the rest is not tuned\n", quantity.Bytes(size))
			}
			return found, cmp.Or(found.take(comm, b, sizes[:done]), b.Close())
		}
		if err := b.TuneAll(size); err != nil {
			return nil, err
		}
	}
	return found, cmp.Or(found.take(comm, b, sizes), b.Close())
}

// take asks the broadcaster, on rank 0, what it has chosen.
func (t *tuned) take(comm mpi.Communicator, b *bcast.Broadcaster, sizes []int) error {
	if comm.Rank() != 0 {
		return nil
	}
	own, err := b.Table(date(comm))
	if err != nil {
		return err
	}
	t.tuning = own.Tunings()[0]
	if t.measured {
		for _, size := range sizes {
			for root := range comm.Size() {
				if _, ok := t.tuning.Choice(int64(size), root); !ok && size > 0 && comm.Size() > 1 {
					t.undecided = append(t.undecided, quantity.Bytes(size))
					break
				}
			}
		}
		return nil
	}
	t.tuning.RootClass, t.tuning.Cells = nil, nil
	for _, size := range sizes {
		plan, err := b.Plan(size, 0)
		if err != nil {
			return err
		}
		if class := table.SizeClass(int64(size)); class > 0 {
			t.tuning.Cells = append(t.tuning.Cells, table.Cell{Bytes: class, Choice: table.Choice{
				Algorithm: schedule.Text(plan.Algorithm), Topology: plan.Topology, Segment: int64(plan.Segment), Measured: math.NaN(), Native: math.NaN(),
			}})
		}
	}
	return nil
}

// keep writes the network with its table, prints the decision function and says how much is gained.
func (t *tuned) keep(stdout, stderr io.Writer, network *model.Network, file outputFile, l table.Language) error {
	old, err := table.Of(network)
	if err != nil {
		fmt.Fprintf(stderr, "warning: what was tuned before is lost: %v\n", err)
	}
	if t.undecided != nil {
		fmt.Fprintf(stderr, "not decided in the time of --budget, and so left to the library: %s\n", words.List(t.undecided))
	}
	shown := []table.Tuning{t.tuning}
	var unsaved error
	if !t.measured {
		fmt.Fprintln(stderr, "no library's broadcast to compare with: these are predictions, and are not kept")
	} else {
		all, err := old.With(t.tuning)
		if err != nil {
			return err
		}
		if network, err = all.Keep(network); err != nil {
			return err
		}
		var at string
		if at, unsaved = file.save(network.Write); at != "" {
			fmt.Fprintf(stderr, "tuned for %s, written to %s\n", words.Count(t.tuning.Ranks, "rank"), at)
		}
		shown = slices.DeleteFunc(slices.Clone(all.Tunings()), func(x table.Tuning) bool { return x.Library != t.tuning.Library })
	}
	var decision bytes.Buffer
	if err := table.WriteDecision(&decision, l, shown); err != nil {
		return err
	}
	_, err = stdout.Write(decision.Bytes())
	return cmp.Or(unsaved, err)
}
