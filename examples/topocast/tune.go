package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/decision"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/reduce"
)

func tuneCommand(shared *cli.Flags) *cobra.Command {
	var (
		sizes   []int
		sources []groupSource
		budget  time.Duration
		output  *cli.Output
		inPlace bool
		shown   decision.Language
	)
	c := &cobra.Command{
		Use:   "tune NET",
		Short: "Store the fastest broadcast and Allreduce per size for later jobs",
		Long: `Tune compares the best topology-aware broadcasts with native MPI_Bcast on the ranks of the job, and Allreduces with
MPI_Allreduce. Native stays unless another one is measurably faster. The network is written with these decisions to --output, by default NET
with the ending .tuned.json. --in-place changes NET itself. Applications that load this file start tuned, if they have
the same ranks on the same hosts and cores, in the same order and under the same library. Other jobs find no decision
there, and may be tuned into the same file. Those of broadcasts are also printed as a function. A size that was not tuned
takes the decision of the next larger one. Where roots are of several kinds, as in racks of different sizes,
each kind is tuned.

` + topologyHelp + ` The groups that choices follow are kept with them.

Start it by mpirun. Simulated ranks have no native broadcast to compare with. There predictions decide; they are
printed and not stored.

Ctrl-C (SIGINT, SIGTERM) ends it before the next size. What was tuned until then is stored.`,
		Example: `  mpirun -n 64 topocast bcast tune cluster.json
  mpirun -n 64 topocast bcast tune cluster.json --sizes 1KiB-16MiB --budget 5m \
      --print c > choose_bcast.c`,
		Args: cli.Args(0, wantNetwork),
		RunE: func(c *cobra.Command, args []string) error {
			byDefault := false
			switch {
			case inPlace && output.Path != "":
				return cli.BadInput("--in-place and --output: want one of them")
			case inPlace:
				output.Path = args[0]
			case output.Path == "" && args[0] == cli.Standard:
				return cli.BadInput("NET is standard input: want --output, too")
			case output.Path == "":
				byDefault = true
				output.Path = strings.TrimSuffix(args[0], ".json") + ".tuned.json"
			}
			if shared.JSON && c.Flags().Changed("print") {
				return cli.BadInput("--json and --print: want one of them")
			}
			known, err := loadOnRanks(args[0])
			if err != nil {
				return err
			}
			shared.Work = func(ranks int) cli.Work {
				return cli.Work{Pairs: timedPerRank * float64(ranks*len(sizes)), Remedy: "--sizes or --ranks"}
			}
			return shared.Run(c, func(comm mpi.Communicator) error {
				defer cli.LimitCalls(comm, shared.Timeout)()
				if err := fits(args[0], known, comm); err != nil {
					return err
				}
				err := onRankZero(comm, "output files", func() error {
					if _, err := os.Stat(output.Path); byDefault && err == nil {
						return fmt.Errorf("%s exists: topocast bcast tune %s --in-place adds to it, --output names another file", output.Path, output.Path)
					}
					return nil
				})
				if err != nil {
					return err
				}
				if err := cli.CheckMemory(comm, sizes); err != nil {
					return err
				}
				tuned, err := tune(c.Context(), comm, known, sources, sizes, budget, c.ErrOrStderr())
				if err != nil || comm.Rank() != 0 {
					return err
				}
				return tuned.keep(c, shared, known, output, shown)
			})
		},
	}
	f := c.Flags()
	cli.Parse(f, &sizes, "sizes", "8-8MiB", cli.SizeLists, cli.ParseAllSizes)
	f.DurationVar(&budget, "budget", time.Minute, "longest time to measure; 0: until all is certain")
	cli.Want(f, "budget", "at least 0", func() bool { return budget >= 0 })
	addTopologyFlag(f, &sources)
	output = shared.Output(c, "output", "o", "", "file for the network with its decisions; default: NET with the ending .tuned.json")
	f.BoolVar(&inPlace, "in-place", false, "change NET itself")
	f.StringVar((*string)(&shown), "print", string(decision.Text), "the decision function as "+words.Or(decision.Languages()))
	cli.Want(f, "print", words.Or(decision.Languages()), func() bool { return slices.Contains(decision.Languages(), shown) })
	return cli.Measures(cli.PrintsJSON(c, "topocast/tuning"))
}

// A tuned is what tune found, on rank 0.
type tuned struct {
	tuning     table.Tuning
	reductions []table.Tuning
	measured   bool     // against native MPI_Bcast
	undecided  []string // sizes
	gained     []string // sizes of Allreduces in which ours is faster
	same       []string // and those in which native stays
}

// tune is collective.
func tune(ctx context.Context, comm mpi.Communicator, network *model.Network, sources []groupSource, sizes []int, budget time.Duration, stderr io.Writer) (*tuned, error) {
	// What was tuned before is measured anew.
	network, err := network.With(func(s *model.Settings) { s.BcastTable = nil })
	if err != nil {
		return nil, err
	}
	if budget > 0 { // 0 is none
		const collectives = 2
		budget = max(1, budget/time.Duration(collectives*len(sizes)))
	}
	b, err := newBroadcaster(comm, &bcast.Settings{Network: network, Budget: budget}, sources, stderr)
	if err != nil {
		return nil, err
	}
	r, err := reduce.New(comm, &reduce.Settings{Network: network, Budget: budget})
	if err != nil {
		return nil, err
	}
	found := &tuned{}
	_, found.measured = comm.(mpi.NativeBcast)
	take := func(sizes []int) error {
		if comm.Rank() != 0 {
			return b.Close()
		}
		return cmp.Or(found.take(comm, b, sizes), found.takeReductions(comm, r, sizes), b.Close())
	}
	for done, size := range sizes {
		ended, failed := share.Star(comm, 0, 0).Agree(ctx.Err()) // rank 0's
		switch {
		case failed != nil:
			return nil, fmt.Errorf("tune: %w", failed)
		case ended != nil:
			if comm.Rank() == 0 {
				fmt.Fprintf(stderr, "stopped before %s: the rest is not tuned\n", quantity.Bytes(size))
			}
			return found, take(sizes[:done])
		}
		if err := b.Tune(nil, size); err != nil {
			return nil, err
		}
		if err := r.Tune(size); err != nil {
			return nil, err
		}
	}
	return found, take(sizes)
}

// takeReductions asks the reducer what it has chosen.
func (t *tuned) takeReductions(comm mpi.Communicator, r *reduce.Reducer, sizes []int) error {
	own, err := r.Table(cli.Date(comm))
	if err != nil {
		return err
	}
	t.reductions = own.Tunings()
	for _, size := range sizes {
		text := quantity.Bytes(size)
		switch name, _, decided := r.Chosen(size, reduce.AllRanks); {
		case size == 0 || comm.Size() == 1:
		case name != "":
			t.gained = append(t.gained, text)
		case decided:
			t.same = append(t.same, text)
		default:
			t.undecided = append(t.undecided, "Allreduce of "+text)
		}
	}
	return nil
}

// take asks the broadcaster what it has chosen.
func (t *tuned) take(comm mpi.Communicator, b *bcast.Broadcaster, sizes []int) error {
	own, err := b.Table(cli.Date(comm))
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
		if size == 0 { // nothing is sent
			continue
		}
		plan, err := b.Plan(size, 0)
		if err != nil {
			return err
		}
		t.tuning.Cells = append(t.tuning.Cells, table.Cell{Bytes: table.SizeClass(int64(size)), Choice: table.Choice{
			Algorithm: schedule.Text(plan.Algorithm), Segment: int64(plan.Segment), Measured: math.NaN(), Native: math.NaN(),
		}})
	}
	return nil
}

// keep writes the network with its table, prints the decision function and says how much is gained.
func (t *tuned) keep(c *cobra.Command, shared *cli.Flags, network *model.Network, file *cli.Output, l decision.Language) error {
	stderr := c.ErrOrStderr()
	old, err := table.Of(network)
	if err != nil {
		fmt.Fprintf(stderr, "warning: what was tuned before is lost: %v\n", err)
	}
	if t.undecided != nil {
		fmt.Fprintf(stderr, "not decided within --budget, so native stays for: %s\n", words.List(t.undecided))
	}
	if t.measured && t.gained != nil {
		fmt.Fprintf(stderr, "topology-aware Allreduces are faster for: %s\n", words.List(t.gained))
	}
	if t.measured && t.same != nil {
		fmt.Fprintf(stderr, "native MPI_Allreduce stays for: %s\n", words.List(t.same))
	}
	shown := []table.Tuning{t.tuning}
	var unsaved error
	var at string
	if !t.measured {
		fmt.Fprintln(stderr, "no MPI_Bcast to compare with: these are predictions, and are not stored")
	} else {
		all, err := t.addTo(old)
		if err != nil {
			return err
		}
		if network, err = all.Keep(network); err != nil {
			return err
		}
		if at, unsaved = file.Save(network.Write); at != "" {
			fmt.Fprintf(stderr, "tuned for %s, written to %s\n", words.Count(t.tuning.Ranks, "rank"), at)
		}
		shown = slices.DeleteFunc(slices.Clone(all.Tunings()), func(x table.Tuning) bool {
			return x.Collective != "" || x.Library != t.tuning.Library
		})
	}
	return cmp.Or(unsaved, shared.Print(c, func(w io.Writer) error {
		decision.Write(w, l, shown)
		return nil
	}, func(w io.Writer) error {
		return t.writeJSON(w, network, at)
	}))
}

// addTo returns a table with what is tuned in it.
func (t *tuned) addTo(known *table.Table) (*table.Table, error) {
	all, err := known.With(t.tuning)
	for _, x := range t.reductions {
		if err == nil {
			all, err = all.With(x)
		}
	}
	return all, err
}

// writeJSON writes the decisions for programs.
func (t *tuned) writeJSON(w io.Writer, network *model.Network, file string) error {
	own, err := t.addTo(new(table.Table))
	if err != nil {
		return err
	}
	if network, err = own.Keep(network); err != nil {
		return err
	}
	return results.Write(w, &results.Tuning{
		Network: file, Measured: t.measured, Undecided: list(t.undecided), Table: network.Settings().BcastTable,
	})
}
