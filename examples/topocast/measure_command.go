package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/encode"
)

func measureCommand(shared *cli.Flags) *cobra.Command {
	var (
		m                   measuring
		what, sizes         string
		output, csv, resume string
		update, schedule    string
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
--repetitions, and measures what is missing. With NET, a network of these ranks, pairs inside a group
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
			if err := m.validate(); err != nil {
				return err
			}
			var err error
			if m.parts, err = parseParts(what); err != nil {
				return err
			}
			if m.sizes, err = cli.ParseSizes(sizes); err != nil {
				return err
			}
			if m.rounds < 0 {
				return cli.BadInput("--rounds %d: want at least 0", m.rounds)
			}
			if err := m.pairing.parse(schedule); err != nil {
				return err
			}
			m.timeout = shared.Timeout
			if m.hosts < 0 {
				return cli.BadInput("--hosts %d: want at least 0", m.hosts)
			}
			if shared.JSON && (output == cli.Standard || csv == cli.Standard) {
				return cli.BadInput("--json and %s: both are standard output", cli.Standard)
			}
			if resume != "" && !c.Flags().Changed("output") {
				output = strings.TrimSuffix(resume, journalSuffix)
			}
			along := slices.ContainsFunc(m.parts, func(p part) bool { return p.kind == throughput.Kind })
			switch {
			case along && network == "":
				return cli.BadInput("--what %s: want NET, a network along whose wiring to measure", throughput.Kind)
			case update != "" && !along:
				return cli.BadInput("--update: only --what %s changes a network", throughput.Kind)
			}
			m.given = func(flag string) bool { return c.Flags().Changed(flag) }
			if err := refuseUnused(m.parts, m.sizes, m.given); err != nil {
				return err
			}
			shared.HollowAbove, shared.Work = cli.DiscoverHollow, m.work
			readings := cli.NewOutput("--output", output, c.OutOrStdout())
			tables := m.tables(csv, c.OutOrStdout())
			updated := cli.NewOutput("--update", update, c.OutOrStdout())
			return shared.Run(c, func(comm mpi.Communicator) error {
				own := m // ranks may be threads of this process
				if err := cli.CheckOutputs(comm, append([]cli.Output{readings, updated}, tables...)...); err != nil {
					return err
				}
				if own.wants(measure.KindLatency) {
					if err := cli.CheckMemory(comm, own.sizes); err != nil {
						return err
					}
				}
				own.ctx, own.comm, own.stderr = c.Context(), comm, c.ErrOrStderr()
				if err := own.readInput(resume, network, m.given); err != nil {
					return err
				}
				broken := own.measure(output)
				if own.file == nil {
					return broken
				}
				if err := nothingMeasured(own.file); err != nil {
					own.part.end(broken == nil) // what is in --output stays
					return cmp.Or(broken, err)
				}
				at, unsaved := readings.Save(own.file.Write)
				own.part.end(unsaved == nil && broken == nil)
				err := cmp.Or(broken, unsaved, own.saveTables(tables), own.saveNetwork(updated))
				report := cli.ReportWriter(c, append([]cli.Output{readings}, tables...)...)
				if shared.JSON {
					err = cmp.Or(err, reportMeasured(report, own.file, at, byHost))
				} else {
					err = cmp.Or(err, tellMeasured(report, c.ErrOrStderr(), own.file, at, byHost))
				}
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&what, "what", measure.KindLatency, "what to measure, by commas")
	f.StringVar(&sizes, flagSizes, "8", "message sizes of latencies, by commas; of other kinds one, such as "+cli.SizeForms)
	f.StringVarP(&output, "output", "o", "readings.json", "file for the measurements")
	f.StringVar(&csv, "csv", "", "file for the matrix of latencies in us; of other kinds, tables named after it")
	f.StringVar(&resume, "resume", "", "file to go on with, which --output then defaults to")
	f.StringVar(&update, "update", "", "file for the network with what throughput has measured; may be NET")
	f.IntVar(&m.rounds, flagRounds, 0, "rounds of latencies per repetition; 0: as many as all pairs need")
	f.StringVar(&schedule, flagSchedule, scheduleCircle, "rounds of latencies: circle, or halving as Bufe 2014")
	f.BoolVar(&m.pairing.sequential, flagSequential, false, "latencies of one pair at a time, in each group")
	f.Float64Var(&m.pairing.precision, flagPrecision, 0, "latencies and concurrent messages again until they are known to this share, 0.02 say")
	f.IntVar(&m.pairing.batch, flagBatch, 0, "round trips in a sample of latencies, 0: as the clock needs; messages in one of throughput")
	f.IntVar(&m.hosts, flagHosts, 0, "hosts that take part in distance and access; 0: all")
	f.BoolVar(&byHost, flagByHost, false, "sum up by pairs of hosts, too")
	f.DurationVar(&m.budget, "budget", defaultBudget, "longest time to measure")
	f.BoolVar(&m.oneClock, flagOneClock, false, "oneway: the clocks of all ranks agree, as on one machine or with PTP")
	f.BoolVar(&m.switches, flagSwitches, false, "with throughput, also what each switch carries in all, as in Bufe 2014, 2.3.4")
	f.BoolVar(&m.fast, flagFast, false, "gaps of plogp follow from round trips, as in Kielmann et al. 2000")
	f.IntVar(&m.repetitions, flagRepetitions, defaultRepetitions, "how often every pair is measured; of other kinds, samples of each size or step")
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
func (m *measuring) tables(csv string, stdout io.Writer) []cli.Output {
	files := make([]cli.Output, len(m.parts))
	for i, p := range m.parts {
		path := csv
		if csv != "" && csv != cli.Standard && len(m.parts) > 1 && p.kind != measure.KindLatency {
			ext := filepath.Ext(csv)
			path = strings.TrimSuffix(csv, ext) + "-" + p.kind + ext
		}
		files[i] = cli.NewOutput("--csv", path, stdout)
	}
	return files
}

func (m *measuring) saveTables(files []cli.Output) error {
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
func (m *measuring) saveNetwork(f cli.Output) error {
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
