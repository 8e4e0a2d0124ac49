package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// discoverHollow is the size in bytes above which simulated messages carry nothing: those of
// discover do not but for the long ones, whose time is all that counts.
const discoverHollow = 256<<10 - 1

// plannedSizes are those for which discover shows times and broadcasts.
var plannedSizes = []int{8, 1 << 10, 64 << 10, 1 << 20}

func discoverCommand(run runner) *cobra.Command {
	var (
		output, sim string
		ranks       int
		asJSON      bool
		faults      []string
		o           measureOptions
		p           parameterOptions
	)
	c := &cobra.Command{
		Use:   "discover [flags]",
		Short: "Measure this machine, print and keep its wiring and times",
		Long: `Discover measures how long messages take between all pairs of ranks, reconstructs the wiring from the
times, prints the tree, typical times per level and how it would broadcast, and writes the network to a
file which applications and the other commands read.

Under mpirun the ranks are those of the job.
Otherwise they are threads of this process, one per core and pinned to it: no MPI is needed.
With --sim they run on a simulated cluster, in virtual time, of which --budget
is, too; there every pair is measured once, with few samples, unless
--repetitions says otherwise.

With --distance the PLogP parameters of all pairs are measured, too, and the groups are
those that this distance shows (reconstruct explains them).

Ctrl-C stops the measuring and makes a network of what was measured; a second
one ends the process at once. Under a launcher that ends the job before, the readings are in FILE.part, beside the
network or the file of --keep: topocast reconstruct --output network.json FILE.part`,
		Example: `  topocast discover
  topocast discover --sim "tree:2x4x8 latency=20us,8us,2us rate=10Gbps" \
      --output planned.json
  mpirun -n 64 topocast discover --budget 1m`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.view, err = p.view(c); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return err
			}
			if err := checkSilence(o.silence); err != nil {
				return err
			}
			o.quiet = asJSON
			if sim != "" {
				simulated, err := simulator(sim, "block", ownOverhead, discoverHollow, faults...)
				if err != nil {
					return err
				}
				run = simulated
				simulatedDefaults(c)
			} else if err := refuseUnused(c, "only with --sim", "fault"); err != nil {
				return err
			}
			network := outputFile{"--output", output, c.OutOrStdout()}
			if asJSON && output == standard {
				return badInput("--json and --output -: both are standard output")
			}
			// Rank 0 keeps and prints what it found while MPI still runs: it may
			// not come back from ending it.
			return run(ranks, func(comm mpi.Communicator) error {
				if err := checkOutputs(comm, network, o.keepFile(c.OutOrStdout())); err != nil {
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
				at, unsaved := network.save(found.network.Write)
				own.journal.end(unsaved == nil && found.unkept == nil)
				if asJSON {
					err = found.writeJSON(c.OutOrStdout(), at)
				} else {
					err = found.writeText(reportWriter(c, network, o.keepFile(nil)), at)
				}
				return cmp.Or(unsaved, found.unkept, err)
			})
		},
	}
	f := c.Flags()
	f.StringVarP(&output, "output", "o", "network.json", "file for the network (a simulated one: simulated-network.json)")
	f.StringVar(&sim, "sim", "", "simulate this cluster instead, for example \"tree:2x4x8 latency=20us,8us,2us rate=10Gbps\"")
	f.StringArrayVar(&faults, "fault", nil, "with --sim, a fault of the cluster, as simulate has them")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per core")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/discovery) instead of text")
	f.BoolVar(&o.twoLevel, "two-level", false, "measure the inside of hosts apart from what is between them: fewer pairs, undisturbed")
	f.BoolVar(&o.fewPairs, "few-pairs", false, "measure only as many pairs as tell the groups apart, even if --budget has time for all")
	f.IntVar(&o.patterns, "patterns", concurrent.UsualPatterns, "patterns of transfers under way together, which tell how links are shared; 0: none")
	f.BoolVar(&o.memory, "memory", false, "measure which ranks of a host share caches and memory, too")
	f.StringVar(&o.hwloc, "hwloc", "", "file of lstopo --of xml: the inside of every host, in place of what the systems tell")
	f.BoolVar(&o.degradation, "degradation", false, "measure how messages slow down with distance and with more processes per host, too")
	f.BoolVar(&o.equalHosts, "equal-hosts", false, "with --two-level: hosts whose ranks have the same cores are alike, measure one of each kind")
	f.DurationVar(&o.silence, "silence", defaultSilence, "how long a rank waits for another before the job ends; below 0: for good")
	o.flags(f)
	p.flags(f)
	return c
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
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "between ranks of one")
	for _, size := range plannedSizes {
		fmt.Fprintf(t, "\t%s", quantity.Bytes(size))
	}
	fmt.Fprintln(t, "\tbandwidth\tspread")
	for i, l := range n.Levels() {
		fmt.Fprint(t, n.Hierarchy().LevelName(i))
		for _, size := range plannedSizes {
			fmt.Fprintf(t, "\t%s", quantity.Seconds(l.Time(int64(size))))
		}
		fmt.Fprintf(t, "\t%s\t%s\n", quantity.Rate(l.Bandwidth()), quantity.Percent(l.Spread))
	}
	t.Flush()

	fmt.Fprintln(w, "\nbroadcast from rank 0")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, size := range plannedSizes {
		plans, err := predict.Plans(n, nil, size, 0)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%s\n", quantity.Bytes(size), plans[0])
	}
	return t.Flush()
}

// writeJSON writes the same for programs.
func (d discovery) writeJSON(w io.Writer, file string) error {
	type timeRow struct {
		Level string  `json:"level"`
		Bytes int     `json:"bytes"`
		Time  float64 `json:"time_s"`
	}
	type levelRow struct {
		Level     string   `json:"level"`
		Bandwidth *float64 `json:"bandwidth_Bps,omitempty"`
		Spread    *float64 `json:"spread,omitempty"` // of single readings about the times, relative
	}
	type planRow struct {
		Bytes     int     `json:"bytes"`
		Algorithm string  `json:"algorithm"`
		Segment   int     `json:"segment_bytes"`
		Predicted float64 `json:"predicted_s"`
	}
	out := struct {
		Format    string          `json:"format"`
		Version   int             `json:"version"`
		Network   string          `json:"network_file"`
		Hierarchy json.RawMessage `json:"hierarchy"`
		Times     []timeRow       `json:"times"`
		Levels    []levelRow      `json:"levels"`
		Bcast     []planRow       `json:"bcast"`
	}{Format: "topocast/discovery", Version: 1, Network: file, Times: []timeRow{}, Bcast: []planRow{}}
	var hierarchy rawJSON
	if err := encode.WriteHierarchy(&hierarchy, d.result); err != nil {
		return err
	}
	out.Hierarchy = json.RawMessage(hierarchy)
	for i, l := range d.network.Levels() {
		out.Levels = append(out.Levels, levelRow{d.network.Hierarchy().LevelName(i), jsonfile.Known(l.Bandwidth()), jsonfile.Known(l.Spread)})
		for _, size := range plannedSizes {
			if t := l.Time(int64(size)); !math.IsNaN(t) {
				out.Times = append(out.Times, timeRow{d.network.Hierarchy().LevelName(i), size, t})
			}
		}
	}
	for _, size := range plannedSizes {
		plans, err := predict.Plans(d.network, nil, size, 0)
		if err != nil {
			return err
		}
		if p := plans[0]; !math.IsNaN(p.Predicted) {
			out.Bcast = append(out.Bcast, planRow{size, p.Name(), p.Segment, p.Predicted})
		}
	}
	return json.NewEncoder(w).Encode(out)
}

// rawJSON collects what another encoder writes.
type rawJSON json.RawMessage

func (r *rawJSON) Write(p []byte) (int, error) {
	*r = append(*r, p...)
	return len(p), nil
}

// date is kept with what is measured; what is simulated has none, so that the
// same command writes the same file on every day.
func date(comm mpi.Communicator) time.Time {
	if _, is := comm.(*simnet.Comm); is {
		return time.Time{}
	}
	return time.Now().UTC().Truncate(time.Second)
}
