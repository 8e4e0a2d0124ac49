package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/encode"
)

func reconstructCommand() *cobra.Command {
	var unit, method, output string
	var repetitions []string
	var asJSON bool
	var o methodOptions
	c := &cobra.Command{
		Use:   "reconstruct [flags] LATENCIES",
		Short: "Work out the wiring from a file of latencies",
		Long: `Reconstruct reads latencies and prints the groups that it finds: cores, sockets,
hosts, racks. LATENCIES is the file of topocast measure, or a square matrix:
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

Methods: ` + strings.Join(methodNames(), ", ") + ".",
		Example: `  topocast reconstruct readings.json
  topocast reconstruct --unit us latencies.csv
  topocast reconstruct --unit ns --reps second.csv,third.csv --json first.csv
  topocast measure --sizes 8,4KiB,64KiB -o readings.json
  topocast reconstruct --method greedy --duplex-eps 0.05 -o n.json readings.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := newMethod(method, o)
			if err != nil {
				return err
			}
			given := encode.Unit(0)
			if unit != "" {
				if given, err = encode.ParseUnit(unit); err != nil {
					return badInput("--unit: %w", err)
				}
			}
			network := outputFile{"--output", output, c.OutOrStdout()}
			if asJSON && output == standard {
				return badInput("--json and --output -: both are standard output")
			}
			if err := network.check(nil); err != nil {
				return err
			}
			l, err := readAllLatencies(append(args, repetitions...), given)
			if err != nil {
				return err
			}
			result, err := l.reconstruct(r)
			if err != nil {
				return &inputError{err}
			}
			result.Warnings = append(l.warnings, result.Warnings...)
			var unsaved error
			if output != "" {
				n, err := l.network(result)
				if err != nil {
					return &inputError{err}
				}
				_, unsaved = network.save(n.Write)
			}
			if asJSON {
				err = encode.WriteResult(c.OutOrStdout(), result, l.hostNames())
			} else {
				w := reportWriter(c, network)
				if err = printResult(w, result, l.named()); err == nil {
					err = printMerged(w, result)
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
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/hierarchy, with the graph and the names)")
	o.flags(f)
	return c
}

// latencies are what the files of one reconstruction hold.
type latencies struct {
	matrices []mat.Matrix
	names    []string        // of the rows; nil: not known
	measured *measure.Result // the matrices come from, or nil
	warnings []string
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
				return nil, badInput("--reps: %s: %w", path, err)
			}
			continue
		case l.measured != nil || all.measured != nil:
			return nil, badInput("--reps: %s: measured readings go with measured readings only", path)
		case all.names != nil && l.names != nil && !slices.Equal(all.names, l.names):
			return nil, badInput("--reps: %s: other names than in %s", path, paths[0])
		}
		n, columns := all.matrices[0].Dims()
		if rows, _ := l.matrices[0].Dims(); rows != n {
			return nil, badInput("--reps: %s: %d x %d, where %s is %d x %d", path, rows, rows, paths[0], n, columns)
		}
		all.matrices = append(all.matrices, l.matrices...)
		all.warnings = append(all.warnings, l.warnings...)
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
	return latencies{matrices: r.Matrices(), measured: r, warnings: r.Warnings}, nil
}

// readLatencies reads a file, or standard input for "-", in whichever form it is.
func readLatencies(path string, unit encode.Unit) (*latencies, error) {
	f, err := openInput(path)
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
	m, err := encode.ReadMatrix(r, unit)
	if err != nil {
		return nil, badInput("%s: %w", path, err)
	}
	l := &latencies{matrices: []mat.Matrix{m.Matrix}, names: m.Names}
	for _, warning := range m.Warnings {
		l.warnings = append(l.warnings, path+": "+warning)
	}
	return l, nil
}

// readReadings reads a file of topocast measure.
func readReadings(r io.Reader, path string, unit encode.Unit) (*latencies, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, badInput("%s: %w", path, err)
	}
	m, err := measure.ReadResult(bytes.NewReader(data))
	switch format := jsonfile.Format(data); {
	case errors.Is(err, measure.ErrFormat) && format != "":
		return nil, badInput("%s: format is %q: want a matrix, or topocast/measurement, which topocast measure writes", path, format)
	case err != nil:
		return nil, badInput("%s: %w", path, err)
	}
	if unit != 0 {
		return nil, badInput("--unit: %s holds its own", path)
	}
	matrices := m.Matrices()
	if len(matrices) == 0 {
		return nil, badInput("%s: nothing was measured", path)
	}
	return &latencies{matrices: matrices, measured: m, warnings: m.Warnings}, nil
}

// named is what the report calls the rows of the matrices: of a plain one nobody knows whether they are
// cores, hosts or sites.
func (l *latencies) named() *draw.TextSettings {
	if l.measured == nil {
		return &draw.TextSettings{Noun: "endpoint", Names: l.names}
	}
	s := &draw.TextSettings{Noun: "rank"}
	for _, at := range l.measured.Locations() {
		s.Places = append(s.Places, draw.Place{Host: at.Host, Core: at.Core})
	}
	return s
}

// hostNames are the names of the rows, of ranks those of their hosts; nil: not known.
func (l *latencies) hostNames() []string {
	if l.measured != nil {
		return l.measured.Hosts
	}
	return l.names
}

// network makes a network of the result: with the times of the sizes that were
// measured, or with latencies only.
func (l *latencies) network(result *topology.Result) (*model.Network, error) {
	s := model.Settings{Measured: model.Metadata{Tool: "topocast reconstruct"}}
	if l.measured == nil {
		for _, name := range l.names {
			s.Locations = append(s.Locations, model.Location{Host: name, Core: -1})
		}
		return model.New(result, &s)
	}
	s.Locations = l.measured.Locations()
	s.Measured.Library = l.measured.Library
	s.Measured.Bytes = int64(slices.Min(l.measured.Sizes))
	if date := l.measured.Date; !date.IsZero() {
		s.Measured.Date = date.Format(time.RFC3339)
	}
	fitted, err := model.Fit(result, l.measured.Observations(), &model.FitSettings{Network: s})
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	return fitted.Network, nil
}
