package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// An exported is what formats are made of: a network's confident groups, and its wiring without the switches
// of uncertain ones.
type exported struct {
	network *model.Network
	graph   *topology.Graph // its hosts are the ranks, with the names of their hosts
	stderr  io.Writer       // for warnings
}

// A writer writes a machine in a format.
type writer func(io.Writer, exported) error

// writerOf is the writer of a format, nil if the format is only read.
func writerOf(f encode.Format) writer {
	switch {
	case f.WriteGraph != nil:
		return func(w io.Writer, x exported) error { return f.WriteGraph(w, x.graph) }
	case f.WriteFabric != nil:
		return fabricWriter(f.WriteFabric)
	}
	return map[string]writer{
		"json": writeJSON,
		"simgrid": func(w io.Writer, x exported) error {
			return encode.WriteSimGrid(w, x.graph, x.network.Settings().Routing)
		},
		"lgate": func(w io.Writer, x exported) error {
			r, err := grouped(x.network, x.graph)
			if err != nil {
				return err
			}
			return encode.WriteLGate(w, r.Hierarchy)
		},
		"csv": writeLatencies,
	}[f.Name]
}

// fabricWriter writes hosts on switches, as schedulers want them. Standard error says what a person should know of the file.
func fabricWriter(write func(io.Writer, *encode.Fabric) error) writer {
	return func(w io.Writer, x exported) error {
		f, warnings, err := encode.NewFabric(x.graph, x.network.Hierarchy(), hostNames(x.graph))
		if err != nil {
			return err
		}
		writeWarnings(x.stderr, "", warnings)
		return write(w, f)
	}
}

// writeJSON writes what reconstruct --json writes, without uncertain groups.
func writeJSON(w io.Writer, x exported) error {
	n := x.network
	return encode.WriteResult(w, &topology.Result{Graph: x.graph, Hierarchy: n.Hierarchy(), Fit: n.Reconstruction().Fit, Warnings: n.Warnings()}, hostNames(x.graph))
}

// writeLatencies writes the times of messages of no bytes between the ranks.
func writeLatencies(w io.Writer, x exported) error {
	n := x.network.Ranks()
	if n == 0 {
		return fmt.Errorf("no ranks")
	}
	latencies := mat.NewDense(n, n, nil)
	isKnown := n == 1
	for i := range n {
		for j := range n {
			latencies.Set(i, j, x.network.Time(i, j, 0))
			isKnown = isKnown || i != j && !math.IsNaN(latencies.At(i, j))
		}
	}
	if !isKnown {
		return fmt.Errorf("no latency is known")
	}
	return encode.WriteMatrix(w, latencies, hostNames(x.graph), encode.Microsecond)
}

func exportCommand(shared *cli.Flags) *cobra.Command {
	var format string
	var output *cli.Output
	c := &cobra.Command{
		Use:   "export NET --format FORMAT",
		Short: "Write a network as a file that another tool reads",
		Long: `Export writes a network (of topocast discover) in a format that other tools read.
Groups with a confidence below 0.9 are left out. Formats:

` + exportTable(),
		Example: `  topocast export --format dot network.json | dot -Tsvg >network.svg
  topocast export --format slurm-conf -o topology.conf network.json
  topocast export --format lgate -o topology.txt network.json`,
		Args: cli.Args(0, wantNetwork),
		RunE: cli.OnNetwork(func(c *cobra.Command, n *model.Network, args []string) error {
			formats := exportFormats()
			known := each(formats, func(f encode.Format) string { return f.Name })
			i := slices.Index(known, format)
			if i < 0 {
				return cli.BadInput("--format %q: want one of %s", format, strings.Join(known, ", "))
			}
			var content bytes.Buffer // nothing is written if the network lacks what the format needs
			if err := writeNetwork(&content, args[0], n, writerOf(formats[i]), c.ErrOrStderr()); err != nil {
				return err
			}
			return output.SaveAndSay(format, func(w io.Writer) error {
				_, err := w.Write(content.Bytes())
				return err
			})
		}),
	}
	c.Flags().StringVarP(&format, "format", "f", "", "the format, one of the above")
	output = shared.Output(c, "output", "o", cli.Standard, "file to write; -: standard output")
	return c
}

// wantNetworkFile says for the help what files an argument may be.
func wantNetworkFile(argument string) string {
	return words.Fill(argument+" is "+encode.Readable()+".", 78)
}

// exportFormats are the formats that there is a writer for.
func exportFormats() []encode.Format {
	return slices.DeleteFunc(encode.Formats(), func(f encode.Format) bool { return writerOf(f) == nil })
}

// exportTable lists the formats for the help.
func exportTable() string {
	var b strings.Builder
	t := columns.New(&b)
	for _, f := range exportFormats() {
		t.Row("  "+f.Name, f.About)
	}
	t.Flush()
	return b.String()
}

// writeNetwork writes the network of a file in a format.
func writeNetwork(w io.Writer, file string, n *model.Network, write writer, stderr io.Writer) error {
	g, err := n.NameHosts(n.Graph())
	if err == nil {
		err = write(w, exported{n, g, stderr})
	}
	if err != nil {
		return cli.BadInput("%s: %w", file, err)
	}
	return nil
}
