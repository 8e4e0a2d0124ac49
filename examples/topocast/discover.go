package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// plannedSizes are those for which discover shows times and broadcasts.
var plannedSizes = []int{8, 1 << 10, 64 << 10, 1 << 20}

func discoverCommand(shared *cli.Flags) *cobra.Command {
	var (
		output string
		o      measureOptions
		p      parameterOptions
	)
	c := &cobra.Command{
		Use:   "discover",
		Short: "Measure the job or this machine, print its wiring, write NET",
		Long: `Discover measures how long messages take between all pairs of ranks and reconstructs the wiring from these
times. It prints the tree, typical times per level and the planned broadcasts. It writes the network to a file,
called NET by the other commands, which applications read, too.

Under mpirun the ranks are those of the job.
Otherwise they are threads of this process, one per core and pinned to it: no MPI is needed.
With --sim they run on a simulated cluster in virtual time. --budget is virtual time, too. There every pair is
measured once, with few samples, unless --repetitions is given, and the network goes to simulated-network.json.

` + simulationHelp + `

With --distance the PLogP parameters of all pairs are measured, too, and the groups are
those that this distance shows (reconstruct explains them).

Ctrl-C stops the measuring and makes a network of what was measured, in a simulation if that takes less than a second.
A second one ends the process at once. Under a launcher that ends the job before, the measurements are in FILE.part, beside the
network or the file of --keep: topocast reconstruct --output network.json FILE.part`,
		Example: `  topocast discover
  topocast discover --sim "tree:2x4x8 latency=20us,8us,2us rate=10Gbps" \
      --output planned.json
  mpirun -n 64 topocast discover --budget 1m`,
		Args: cli.Args(0),
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.view, err = p.view(c); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return err
			}
			o.quiet, o.timeout, shared.HollowAbove = shared.JSON, shared.Timeout, cli.DiscoverHollow
			if shared.Sim != "" && !c.Flags().Changed("repetitions") {
				o.repetitions = 1 // nothing disturbs a simulation, and 1,024 ranks take minutes
			}
			shared.Work = o.work
			network := cli.NewOutput("--output", output, c.OutOrStdout())
			if shared.JSON && output == cli.Standard {
				return cli.BadInput("--json and --output -: both are standard output")
			}
			// Rank 0 keeps and prints what it found while MPI still runs: it may
			// not come back from ending it.
			return shared.Run(c, func(comm mpi.Communicator) error {
				var larger error
				if comm.Rank() == 0 && !c.Flags().Changed("output") {
					larger = keepLarger(output, comm.Size())
				}
				if err := cli.Agree(comm, "output files", larger); err != nil {
					return err
				}
				if err := cli.CheckOutputs(comm, network, o.keepFile(c.OutOrStdout())); err != nil {
					return err
				}
				own := o // ranks may share the options
				own.journal = beginJournal(c.Context(), cmp.Or(o.keep, output), c.ErrOrStderr())
				found, err := discover(c.Context(), comm, &own, c.OutOrStdout(), c.ErrOrStderr())
				if err != nil || comm.Rank() != 0 {
					own.journal.end(false)
					return err
				}
				// First the file: who reads the report may end before its end.
				at, unsaved := network.Save(found.network.Write)
				own.journal.end(unsaved == nil && found.unkept == nil)
				if shared.JSON {
					err = found.writeJSON(c.OutOrStdout(), at)
				} else {
					err = found.writeText(cli.ReportWriter(c, network, o.keepFile(nil)), at)
				}
				return cmp.Or(unsaved, found.unkept, err)
			})
		},
	}
	f := c.Flags()
	f.StringVarP(&output, "output", "o", "network.json", "file for the network; with --sim simulated-network.json")
	f.BoolVar(&o.twoLevel, "two-level", false, "measure the inside of hosts apart from what is between them: fewer pairs, undisturbed")
	f.BoolVar(&o.fewPairs, "few-pairs", false, "measure only as many pairs as tell the groups apart, even if --budget has time for all")
	f.IntVar(&o.patterns, "patterns", concurrent.UsualPatterns, "patterns of transfers under way together, which tell how links are shared; 0: none")
	f.BoolVar(&o.memory, "memory", false, "measure which ranks of a host share caches and memory, too")
	f.StringVar(&o.hwloc, "hwloc", "", "file of lstopo --of xml: the inside of every host, in place of what the systems tell")
	f.BoolVar(&o.degradation, "degradation", false, "measure how messages slow down with distance and with more processes per host, too")
	f.BoolVar(&o.equalHosts, "equal-hosts", false, "with --two-level: hosts whose ranks have the same cores are alike, measure one of each kind")
	o.flags(f)
	p.flags(f)
	return cli.Measures(cli.PrintsJSON(c, "topocast/discovery"))
}

// keepLarger refuses to replace the file of the default name if it holds a network of more ranks.
func keepLarger(file string, ranks int) error {
	old, err := model.Load(file)
	if err != nil || old.Ranks() <= ranks {
		return nil // no network that could be lost
	}
	return fmt.Errorf("%s is a network of %s, this job has %d: --output %s replaces it, another name keeps both", file, words.Count(old.Ranks(), "rank"), ranks, file)
}

// A discovery is what discover found, on rank 0.
type discovery struct {
	result  *topology.Result
	network *model.Network
	unkept  error // why the readings are not where they were to be kept
}

func (d discovery) writeText(w io.Writer, file string) error {
	n := d.network
	if err := printNetwork(w, n, ranksOf(n)); err != nil {
		return err
	}
	if n.Ranks() > 1 {
		if err := d.writePlans(w); err != nil {
			return err
		}
	}
	if file != "" {
		fmt.Fprintf(w, "\nnetwork of %s written to %s\n", words.Count(n.Ranks(), "rank"), file)
	}
	return nil
}

// writePlans writes what follows from the network: predicted times, and how it would broadcast.
func (d discovery) writePlans(w io.Writer) error {
	n := d.network
	fmt.Fprintln(w, "\npredicted time of one message")
	names := []string{"between ranks of one"}
	for _, size := range plannedSizes {
		names = append(names, quantity.Bytes(size))
	}
	t := columns.New(w, append(names, "bandwidth", "spread")...)
	for i, l := range n.Levels() {
		row := []any{n.Hierarchy().LevelName(i)}
		for _, size := range plannedSizes {
			row = append(row, quantity.Seconds(l.Time(int64(size))))
		}
		t.Row(append(row, quantity.Rate(l.Bandwidth()), quantity.Percent(l.Spread))...)
	}
	if err := t.Flush(); err != nil {
		return err
	}

	fmt.Fprintln(w, "\nbroadcast from rank 0")
	t = columns.New(w)
	for _, size := range plannedSizes {
		plans, err := predict.Plans(n, nil, size, 0)
		if err != nil {
			return err
		}
		t.Row(quantity.Bytes(size), plans[0])
	}
	return t.Flush()
}

// writeJSON writes the same for programs.
func (d discovery) writeJSON(w io.Writer, file string) error {
	out := results.Discovery{Network: file, Times: []results.TimeOf{}, Bcast: []results.Plan{}}
	var hierarchy rawJSON
	if err := encode.WriteHierarchy(&hierarchy, d.result); err != nil {
		return err
	}
	out.Hierarchy = json.RawMessage(hierarchy)
	for i, l := range d.network.Levels() {
		out.Levels = append(out.Levels, results.LevelOf{Level: d.network.Hierarchy().LevelName(i), Bandwidth: jsonfile.Known(l.Bandwidth()), Spread: jsonfile.Known(l.Spread)})
		for _, size := range plannedSizes {
			if t := l.Time(int64(size)); !math.IsNaN(t) {
				out.Times = append(out.Times, results.TimeOf{Level: d.network.Hierarchy().LevelName(i), Bytes: size, Time: t})
			}
		}
	}
	for _, size := range plannedSizes {
		plans, err := predict.Plans(d.network, nil, size, 0)
		if err != nil {
			return err
		}
		if p := plans[0]; !math.IsNaN(p.Predicted) {
			out.Bcast = append(out.Bcast, results.Plan{Bytes: size, Algorithm: p.Name(), Segment: p.Segment, Predicted: p.Predicted})
		}
	}
	return results.Write(w, &out)
}

// rawJSON collects what another encoder writes.
type rawJSON json.RawMessage

func (r *rawJSON) Write(p []byte) (int, error) {
	*r = append(*r, p...)
	return len(p), nil
}
