package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/encode"
)

func measureCommand(shared *cli.Flags) *cobra.Command {
	var (
		m                   measuring
		resume              string
		output, csv, update *cli.Output
		byHost              bool
	)
	c := &cobra.Command{
		Use:   "measure [NET]",
		Short: "Measure messages between the ranks, write the measurements",
		Long: `Measure times messages between the ranks, as --what says, and writes the measurements
and their conditions to a file:

` + partsHelp() + `

Latencies are measured in rounds of disjoint pairs; samples that something
disturbs are taken again. With --csv the matrix of lower quartiles over the
first repetition is written too, and of other kinds a table each. topocast
reconstruct reads both.

One-way times (oneway) tell links that are slow in one direction, which half a
round trip does not. The clocks of the ranks are fitted to them. A slow direction
that all messages of a host share, or of a link that alone joins two parts, as in
a tree, looks like other clocks and is not seen. With --one-clock it is.

When the first rounds show that --budget is too small, fewer repetitions and
samples are taken. Ctrl-C or the end of the budget stops all ranks after the
round under way; what was measured is kept. While it is measured it is in a file
beside --output that ends in .part: after a job that was killed, --resume goes
on with it, as with any file that is not complete or shall have more
--repetitions, and measures what is missing. Of other kinds than latency what is
not complete is measured again. With NET, a network of these ranks, pairs inside a group
are measured apart from those between groups. Throughput is measured along its wiring, and
--update writes the network with it.`,
		Example: `  mpirun -n 64 topocast measure --output readings.json --csv latencies.csv
  mpirun -n 64 topocast measure --resume readings.json.part
  mpirun -n 64 topocast measure cluster.json --what throughput \
      --update cluster.json
  topocast measure --sim torus:4x4 --fault "direction h0>h1 latency=3x" \
      --what latency,oneway
  topocast measure --sim tree:8x16x8 --rounds 8`,
		Args: cli.Args(1, wantNetwork),
		RunE: func(c *cobra.Command, args []string) error {
			network := ""
			if len(args) > 0 {
				network = args[0]
			}
			m.given = func(flag string) bool { return c.Flags().Changed(flag) }
			m.timeout = shared.Timeout
			if resume != "" && !m.given("output") {
				output.Path = strings.TrimSuffix(resume, journalSuffix)
			}
			switch along := m.wants(throughput.Kind); {
			case along && network == "":
				return cli.BadInput("--what %s: want NET, a network along whose wiring to measure", throughput.Kind)
			case update.Path != "" && !along:
				return cli.BadInput("--update: only --what %s changes a network", throughput.Kind)
			case csv.Path == cli.Standard && len(m.parts) > 1:
				return cli.BadInput("--csv -: want a file: each kind of --what has a table of its own")
			}
			if err := m.refuseUnused(); err != nil {
				return err
			}
			shared.HollowAbove, shared.Work = cli.DiscoverHollow, m.work
			tables := m.tables(csv)
			return shared.Run(c, func(comm mpi.Communicator) error {
				own := m // ranks may be threads of this process
				if own.wants(measure.KindLatency) {
					if err := cli.CheckMemory(comm, own.sizes); err != nil {
						return err
					}
				}
				own.ctx, own.comm, own.stderr = c.Context(), comm, c.ErrOrStderr()
				if err := onRankZero(comm, "input files", func() error { return own.readInput(resume, network) }); err != nil {
					return err
				}
				broken := own.measure(output.Path)
				if own.file == nil {
					return broken
				}
				if err := nothingMeasured(own.file); err != nil {
					own.part.end(broken == nil) // what is in --output stays
					return cmp.Or(broken, err)
				}
				at, unsaved := output.Save(own.file.Write)
				own.part.end(unsaved == nil && broken == nil)
				err := cmp.Or(broken, unsaved, own.saveTables(tables), own.saveNetwork(update))
				result, inside, unread := measuredResult(own.file, at, byHost)
				if unread != nil {
					return cmp.Or(err, unread)
				}
				return cmp.Or(err, show(c, shared, func(w io.Writer) { tellMeasured(w, c.ErrOrStderr(), result, inside) }, result))
			})
		},
	}
	f := c.Flags()
	cli.Parse(f, &m.parts, "what", measure.KindLatency, "what to measure, by commas", parseParts)
	cli.Parse(f, &m.sizes, "sizes", "8", "message sizes of latencies, by commas; of other kinds one, such as "+cli.SizeForms, cli.ParseSizes)
	output = shared.Output(c, "output", "o", "readings.json", "file for the measurements")
	csv = shared.Output(c, "csv", "", "", "file for the matrix of latencies in us; of other kinds, tables named after it")
	f.StringVar(&resume, "resume", "", "file to go on with, which --output then defaults to")
	update = shared.Output(c, "update", "", "", "file for the network with what throughput has measured; may be NET")
	f.IntVar(&m.rounds, "rounds", 0, "rounds of latencies per repetition; 0: as many as all pairs need")
	cli.Want(f, "rounds", "at least 0", func() bool { return m.rounds >= 0 })
	cli.Choice(f, &m.schedule, "schedule", []string{"circle", "halving"}, "rounds of latencies: circle, or halving as Bufe 2014")
	f.BoolVar(&m.sequential, "sequential", false, "latencies of one pair at a time, in each group")
	f.Float64Var(&m.precision, "precision", 0, "latencies and concurrent messages again until they are known to this share, 0.02 say")
	cli.Want(f, "precision", "in [0, 1)", func() bool { return m.precision >= 0 && m.precision < 1 })
	f.IntVar(&m.batch, "batch", 0, "round trips in a sample of latencies, 0: as the clock needs; messages in one of throughput")
	cli.Want(f, "batch", fmt.Sprintf("in [0, %d]", pingpong.MaxBatch), func() bool { return m.batch >= 0 && m.batch <= pingpong.MaxBatch })
	f.IntVar(&m.hosts, "hosts", 0, "hosts that take part in distance and access; 0: all")
	cli.Want(f, "hosts", "at least 0", func() bool { return m.hosts >= 0 })
	f.BoolVar(&byHost, "by-host", false, "sum up by pairs of hosts, too")
	budgetFlag(f, &m.budget)
	f.BoolVar(&m.oneClock, "one-clock", false, "oneway: the clocks of all ranks agree, as on one machine or with PTP")
	f.BoolVar(&m.switches, "switches", false, "with throughput, also what each switch carries in all, as in Bufe 2014, 2.3.4")
	f.BoolVar(&m.fast, "fast", false, "gaps of plogp follow from round trips, as in Kielmann et al. 2000")
	repetitionsFlag(f, &m.repetitions, "how often every pair is measured; of other kinds, samples of each size or step")
	return cli.Measures(cli.PrintsJSON(c, "topocast/measured"))
}

// Simulated work by the user time for 8 to 64 ranks, in pairs of latencies that take as long.
const (
	workOfPLogP   = 160 // per pair of ranks
	workOfPattern = 32  // per rank and pattern of transfers
	workOfSteps   = 500 // per rank, of what is measured in steps
)

// work is what measure does on simulated ranks.
func (m *measuring) work(ranks int) cli.Work {
	n := float64(ranks)
	pairs := n * (n - 1) / 2
	w := cli.Work{Remedy: "--ranks"}
	for _, p := range m.parts {
		switch p.kind {
		case measure.KindLatency:
			of := pairs
			if m.rounds > 0 {
				of = min(of, float64(m.rounds)*n/2)
			}
			w.Kept = of * float64(m.repetitions*len(m.sizes))
			w.Pairs += w.Kept
			w.Remedy = "--rounds or --ranks"
		case plogp.Kind:
			w.Pairs += workOfPLogP * pairs
		case concurrent.Kind:
			w.Pairs += workOfPattern * n * concurrent.UsualPatterns
		default:
			w.Pairs += workOfSteps * n
		}
	}
	return w
}

// tables are the files of --csv, one per part: of latencies the matrix, and of all
// others a table whose name has their kind in it unless it is the only one.
func (m *measuring) tables(csv *cli.Output) []*cli.Output {
	files := make([]*cli.Output, len(m.parts))
	for i, p := range m.parts {
		files[i] = csv
		if csv.Path != "" && len(m.parts) > 1 && p.kind != measure.KindLatency {
			ext := filepath.Ext(csv.Path)
			files[i] = csv.Another(strings.TrimSuffix(csv.Path, ext) + "-" + p.kind + ext)
		}
	}
	return files
}

func (m *measuring) saveTables(files []*cli.Output) error {
	for i, p := range m.parts {
		section := m.file.Section(p.kind)
		if section == nil {
			continue // the budget ended before it
		}
		_, err := files[i].Save(func(w io.Writer) error {
			if p.kind == measure.KindLatency {
				return writeMatrix(w, m.file)
			}
			return m.file.WriteCSV(w, section)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// saveNetwork writes the network with what was measured along its wiring, if it was.
func (m *measuring) saveNetwork(f *cli.Output) error {
	if m.remeasured == nil {
		return nil
	}
	_, err := f.Save(m.remeasured.Write)
	return err
}

// writeMatrix writes the first repetition of the smallest size.
func writeMatrix(w io.Writer, f *record.File) error {
	r, err := measure.FromFile(f)
	if err != nil {
		return err
	}
	repetitions := r.Matrices()
	if len(repetitions) == 0 {
		return fmt.Errorf("--csv: nothing was measured")
	}
	return encode.WriteMatrix(w, repetitions[0], nil, encode.Microsecond)
}
