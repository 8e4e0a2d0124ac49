package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/encode"
)

func reconstructCommand(shared *cli.Flags) *cobra.Command {
	var unit, method, output, truth string
	var repetitions []string
	var o methodOptions
	var p parameterOptions
	var find searchOptions
	c := &cobra.Command{
		Use:   "reconstruct FILE",
		Short: "Reconstruct the wiring from a file of latencies",
		Long: `Reconstruct reads latencies and prints the groups that it finds: cores, sockets,
hosts, racks. FILE is the file of topocast measure, or a square matrix:
line i, cell j is the latency from i to j. Commas, semicolons, tabs or blanks
separate cells; empty ones, nan, NA and - were not measured. Names may stand in
a first line and a first column, and one triangle is enough. "-" reads standard
input. Further repetitions of the same matrix, or runs of the same ranks, make the
result surer.

A comment "# unit: us" names the unit of a matrix, else --unit does, else it is
s. With --output the network is kept for place, compare and predict: from a
file of topocast measure with times by size, from a matrix with latencies. What
--json prints they read as well, as a network of latencies.

The method greedy, for rings, tori and meshes, makes a topology of each message length that was measured and
merges them (Bannikov and Salnikov 2014): the probability of an arc is the share of lengths that have it, and
"by_size" in the network and in --json lists the arcs of each length. A channel whose directions differ by more than
--duplex-eps is simplex and keeps the faster one; hosts within --shared-eps of the closest pair share memory. A
channel is as long as its directions in the mean over lengths, weighted by probability, over the shortest.

Where FILE has one-way times (topocast measure --what latency,oneway), greedy and witness take each direction by itself where
it is surely slower. Of trees, links get both directions if they were measured with --one-clock.

Of PLogP parameters (topocast measure --what plogp), --distance says what tells ranks apart: L, L + g(m), equation 3.3 of
Reinfjell 2023, the round trip, or the profiles of all parameters to all other ranks. --truth holds the groups against
what is known, and prints the share of ranks that are in the right machine, node and socket (equations 3.7 to 3.10).
FILE holds groups (LGate's, or any network), or is XML of lstopo, that of each host; "metadata" stands for what the
measurements say of the ranks: hosts, machines by the names of hosts without their last number, and NUMA nodes for sockets.

--search tries 50 values of the parameter of a method, --k or --eps, and keeps the one of the highest --score: silhouette, density-based
validity (dbcv), or the share of ranks whose groups come out again when the measurements are disturbed by their own
noise (stability). With --truth it prints the best share over all values, too (equation 3.10).

Methods: ` + strings.Join(methodNames(), ", ") + ".",
		Example: `  topocast reconstruct readings.json
  topocast reconstruct --unit us latencies.csv
  topocast reconstruct --unit ns --reps second.csv,third.csv --json first.csv
  topocast measure --sizes 8,4KiB,64KiB -o readings.json
  topocast reconstruct --distance rtt --truth metadata plogp.json
  topocast reconstruct --method greedy --duplex-eps 0.05 -o n.json readings.json`,
		Args: cli.Args(0, "FILE, of topocast measure or a matrix of latencies"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := find.check(c, method, o); err != nil {
				return err
			}
			var r topology.Reconstructor
			var err error
			if !find.search {
				r, err = newMethod(method, o)
			} else {
				_, err = family(method)
			}
			if err != nil {
				return err
			}
			view, err := p.view(c)
			if err != nil {
				return err
			}
			given, err := encode.ParseUnit(unit)
			if err != nil {
				return cli.BadInput("--unit: %w", err)
			}
			network := cli.NewOutput("--output", output, c.OutOrStdout())
			if shared.JSON && output == cli.Standard {
				return cli.BadInput("--json and --output -: both are standard output")
			}
			if truth == "" && c.Flags().Changed("truth") {
				return cli.BadInput("--truth: want a file, or %s", metadata)
			}
			if shared.JSON && truth != "" {
				return cli.BadInput("--truth: what it prints is no part of --json")
			}
			if err := network.Check(nil); err != nil {
				return err
			}
			var l *latencies
			if view != nil {
				l, err = readParameters(args[0], *view, unit, repetitions)
			} else {
				l, err = readAllLatencies(append(args, repetitions...), given)
			}
			if err != nil {
				return err
			}
			var by *searched
			if find.search {
				if by, err = find.find(method, l, o); err != nil {
					return cli.BadInput("%s: %w", args[0], err)
				}
				r = by.method
			}
			var known *truthLevels
			if truth != "" {
				if known, err = l.readTruth(truth); err != nil {
					return err
				}
			}
			result, err := l.reconstruct(r)
			if err != nil {
				return cli.BadInput("%s: %w", args[0], err)
			}
			for _, reading := range l.readings {
				fmt.Fprintln(c.ErrOrStderr(), reading)
			}
			result.Warnings = append(l.warnings, result.Warnings...)
			var unsaved error
			if output != "" {
				n, err := l.network(result)
				if err != nil {
					return cli.BadInput("%w", err)
				}
				_, unsaved = network.Save(n.Write)
			}
			if shared.JSON {
				err = encode.WriteResult(c.OutOrStdout(), result, l.hostNames())
			} else {
				w := cli.ReportWriter(c, network)
				if err = printResult(w, result, l.named()); err == nil {
					err = printMerged(w, result)
				}
				if err == nil {
					err = l.printSuccess(w, r)
				}
				if by != nil {
					by.print(w)
				}
				if known != nil && err == nil {
					err = known.print(w, l, result.Hierarchy, by)
				}
			}
			if unsaved != nil {
				return unsaved
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&unit, "unit", "", "unit of a matrix: s, ms, us or ns")
	f.StringVar(&method, "method", "linkage", "method of reconstruction")
	f.StringSliceVar(&repetitions, "reps", nil, "files of further repetitions, by commas")
	f.StringVarP(&output, "output", "o", "", "file for the network")
	o.flags(f)
	p.flags(f)
	find.flags(f)
	f.StringVar(&truth, "truth", "", "file of the groups that there are, or metadata: prints how many ranks are in the right one")
	return cli.PrintsJSON(c, "topocast/hierarchy")
}

// latencies are what the files of one reconstruction hold.
type latencies struct {
	matrices []mat.Matrix
	names    []string        // of the rows; nil: not known
	measured *measure.Result // the matrices come from, or nil
	job      *record.Header  // of the ranks, where they were measured; nil: it was a plain matrix
	warnings []string
	readings []string // how each plain matrix was understood

	directions *oneway.Result // of the ranks; nil: not measured

	// Of PLogP parameters.
	parameters *plogp.Result
	view       plogp.View // what of them the matrix is
	times      mat.Matrix // L + g(m), in s
}

// readAllLatencies reads a file and its further repetitions.
func readAllLatencies(paths []string, unit encode.Unit) (*latencies, error) {
	var all latencies
	for i, path := range paths {
		l, err := readLatencies(path, unit)
		switch {
		case err != nil:
			return nil, err
		case i == 0:
			all = *l
			continue
		case l.measured != nil && all.measured != nil:
			if all, err = merged(all.measured, l.measured); err != nil {
				return nil, cli.BadInput("--reps: %s: %w", path, err)
			}
			continue
		case l.measured != nil || all.measured != nil:
			return nil, cli.BadInput("--reps: %s: files of topocast measure go with each other only", path)
		case all.names != nil && l.names != nil && !slices.Equal(all.names, l.names):
			return nil, cli.BadInput("--reps: %s: other names than in %s", path, paths[0])
		}
		n, columns := all.matrices[0].Dims()
		if rows, _ := l.matrices[0].Dims(); rows != n {
			return nil, cli.BadInput("--reps: %s: %d x %d, where %s is %d x %d", path, rows, rows, paths[0], n, columns)
		}
		all.matrices = append(all.matrices, l.matrices...)
		all.warnings = append(all.warnings, l.warnings...)
		all.readings = append(all.readings, l.readings...)
		if all.names == nil {
			all.names = l.names
		}
	}
	return &all, nil
}

// merged are the readings of two runs of the same ranks.
func merged(a, b *measure.Result) (latencies, error) {
	file := func(r *measure.Result) *record.File {
		return &record.File{Header: r.Header, Sections: []*record.Section{r.Section()}}
	}
	both, err := record.Merge(file(a), file(b))
	if err != nil {
		return latencies{}, err
	}
	r, err := measure.FromFile(both)
	if err != nil {
		return latencies{}, err
	}
	return latencies{matrices: r.Matrices(), measured: r, job: &r.Header, warnings: r.Warnings}, nil
}

// readLatencies reads a file, or standard input for "-", in whichever form it is.
func readLatencies(path string, unit encode.Unit) (*latencies, error) {
	f, err := cli.OpenInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return latenciesOf(f, path, unit)
}

// latenciesOf reads the content of a file.
func latenciesOf(f io.Reader, path string, unit encode.Unit) (*latencies, error) {
	r := bufio.NewReaderSize(f, 64<<10)
	start, _ := r.Peek(512) // its error comes again
	if start = bytes.TrimLeft(start, "\ufeff \t\r\n"); len(start) > 0 && start[0] == '{' {
		return readReadings(r, path, unit)
	}
	if string(bytes.TrimRight(start, " \t\r\n")) == "null" { // of a program that had nothing to write as JSON
		return nil, cli.BadInput("%s: holds null and nothing else: want a matrix, or measurements of topocast measure", path)
	}
	m, err := encode.ReadMatrix(r, unit)
	if err != nil {
		return nil, cli.BadInput("%s: %w", path, err)
	}
	return newLatencies(m, path), nil
}

// newLatencies are those of a matrix, and how it was understood.
func newLatencies(m *encode.Latencies, path string) *latencies {
	l := &latencies{matrices: []mat.Matrix{m.Matrix}, names: m.Names, readings: []string{path + ": " + m.Understood}}
	for _, warning := range m.Warnings {
		l.warnings = append(l.warnings, path+": "+warning)
	}
	return l
}

// readReadings reads a file of topocast measure.
func readReadings(r io.Reader, path string, unit encode.Unit) (*latencies, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, cli.BadInput("%s: %w", path, err)
	}
	m, err := measure.ReadResult(bytes.NewReader(data))
	format := jsonfile.Format(data)
	if err != nil && format == "" && json.Valid(data) { // of another program
		m, err := encode.ReadMatrix(bytes.NewReader(data), unit)
		if err != nil {
			return nil, cli.BadInput("%s: %w", path, err)
		}
		return newLatencies(m, path), nil
	}
	switch {
	case err != nil && format == record.Format && holdsParameters(data):
		return nil, cli.BadInput("%s: holds PLogP parameters: want --distance, which says what of them", path)
	case errors.Is(err, record.ErrFormat) && format != "":
		return nil, cli.BadInput("%s: format is %q: want a matrix, or topocast/measurement, which topocast measure writes", path, format)
	case err != nil:
		return nil, cli.BadInput("%s: %w", path, err)
	}
	if unit != 0 {
		return nil, cli.BadInput("--unit: %s holds its own", path)
	}
	l := &latencies{matrices: m.Matrices(), measured: m, job: &m.Header, warnings: m.Warnings}
	if len(l.matrices) == 0 {
		return nil, cli.BadInput("%s: nothing was measured", path)
	}
	if err := l.readDirections(data); err != nil {
		return nil, cli.BadInput("%s: %w", path, err)
	}
	return l, nil
}

// named is what the report calls the rows of the matrices: of a plain one nobody knows whether they are
// cores, hosts or sites.
func (l *latencies) named() *draw.TextSettings {
	if l.job == nil {
		s := &draw.TextSettings{Noun: "endpoint"}
		for _, name := range l.names {
			s.Places = append(s.Places, draw.Place{Host: name, Core: -1})
		}
		return s
	}
	s := &draw.TextSettings{Noun: "rank"}
	for _, at := range locations(l.job) {
		s.Places = append(s.Places, draw.Place{Host: at.Host, Core: at.Core})
	}
	return s
}

// hostNames are the names of the rows, of ranks those of their hosts; nil: not known.
func (l *latencies) hostNames() []string {
	if l.job != nil {
		return l.job.Hosts
	}
	return l.names
}

// network makes a network of the result: with the times of the sizes that were
// measured, or with latencies only.
func (l *latencies) network(result *topology.Result) (*model.Network, error) {
	s := model.Settings{Measured: model.Metadata{Tool: "topocast reconstruct"}}
	if l.job == nil {
		for _, name := range l.names {
			s.Locations = append(s.Locations, model.Location{Host: name, Core: -1})
		}
		return model.New(result, &s)
	}
	s.Locations = locations(l.job)
	s.Measured.Library = l.job.Library
	if date := l.job.Date; !date.IsZero() {
		s.Measured.Date = date.Format(time.RFC3339)
	}
	var observations []fit.Observation
	if l.parameters != nil {
		s.Measured.Bytes = l.view.Bytes
		if l.view.Distance != plogp.OneWay {
			var err error
			if result, err = cluster.Timed(result.Hierarchy, l.times); err != nil {
				return nil, err
			}
		}
		observations = l.parameters.Observations()
	} else {
		s.Measured.Bytes = int64(slices.Min(l.measured.Sizes))
		observations = l.measured.Observations()
	}
	settings := &fit.Settings{Network: s}
	if l.parameters != nil {
		settings.Parameters = l.parameters.PairParams()
	}
	fitted, err := fit.Network(result, observations, settings)
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	return fitted.Network, nil
}

// locations are those of the ranks of a job.
func locations(job *record.Header) []model.Location {
	all := make([]model.Location, job.Ranks)
	for i := range all {
		all[i] = model.Location{Host: job.Hosts[i], Core: job.Cores[i]}
	}
	return all
}
