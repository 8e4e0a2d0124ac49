package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// An exported is what formats are made of: a network's firm groups, and its wiring without the switches
// of weak ones.
type exported struct {
	network *model.Network
	graph   *topology.Graph // its hosts are the ranks, with the names of their hosts
	stderr  io.Writer       // for warnings
}

// An exportFormat is a format of another tool.
type exportFormat struct {
	name  string
	about string // what reads it
	write func(io.Writer, exported) error
}

func exportFormats() []exportFormat {
	return []exportFormat{
		{"json", "topocast itself: links and groups, without parameters", writeJSON},
		{"dot", "Graphviz: links with latency (s) and bandwidth (B/s)", graphFormat(encode.WriteDOT)},
		{"tgf", "yEd and others: links labelled with us and MB/s", graphFormat(encode.WriteTGF)},
		{"graphml", "yEd, Gephi, networkx: links with latency_s, bandwidth_Bps", graphFormat(encode.WriteGraphML)},
		{"simgrid", "SimGrid: a platform, version 4.1", writeSimGrid},
		{"lgate", "LGate: the groups of ranks", func(w io.Writer, x exported) error { return encode.WriteLGate(w, x.network.Hierarchy()) }},
		{"csv", "spreadsheets and scripts: latencies in us of all pairs", writeLatencies},
		{"ibnetdiscover", "tools of InfiniBand: a fabric as ibnetdiscover prints it", graphFormat(encode.WriteIbnetdiscover)},
		{"slurm-conf", "Slurm's topology.conf for topology/tree: hosts on switches", fabricFormat(encode.WriteSlurmConf)},
		{"slurm-yaml", "Slurm's topology.yaml with a tree (25.05 or later)", fabricFormat(encode.WriteSlurmYAML)},
		{"slurm-block", "Slurm's topology.conf for topology/block (23.11 or later)", fabricFormat(encode.WriteSlurmBlocks)},
		{"slurm-block-yaml", "Slurm's topology.yaml with blocks (25.05 or later)", fabricFormat(encode.WriteSlurmBlockYAML)},
		{"topograph", "topograph: the switches above each host, nearest first", fabricFormat(encode.WriteTopograph)},
	}
}

// writeJSON writes what reconstruct --json writes, without weak groups.
func writeJSON(w io.Writer, x exported) error {
	n := x.network
	return encode.WriteResult(w, &topology.Result{Graph: x.graph, Hierarchy: n.Hierarchy(), Fit: n.ReconstructionFit(), Warnings: n.Warnings()}, hostNames(x.graph))
}

func writeSimGrid(w io.Writer, x exported) error {
	return encode.WriteSimGrid(w, x.graph, x.network.Routing())
}

// writeLatencies writes the times of messages of no bytes between the ranks.
func writeLatencies(w io.Writer, x exported) error {
	n := x.network.Ranks()
	if n == 0 {
		return fmt.Errorf("no ranks")
	}
	latencies := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			latencies.Set(i, j, x.network.Time(i, j, 0))
		}
	}
	return encode.WriteMatrix(w, latencies, hostNames(x.graph), encode.Microsecond)
}

// hostNames are the names of the hosts of a graph.
func hostNames(g *topology.Graph) []string { return g.Names()[:g.Hosts()] }

// graphFormat is a format that holds the graph alone.
func graphFormat(write func(io.Writer, *topology.Graph) error) func(io.Writer, exported) error {
	return func(w io.Writer, x exported) error { return write(w, x.graph) }
}

func exportCommand() *cobra.Command {
	var format, output string
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
		RunE: func(c *cobra.Command, args []string) error {
			out := cli.NewOutput("--output", output, c.OutOrStdout())
			if err := out.Check(nil); err != nil {
				return err
			}
			return export(args[0], format, out, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.StringVarP(&format, "format", "f", "", "the format, one of the above")
	f.StringVarP(&output, "output", "o", cli.Standard, "file to write; -: standard output")
	return c
}

// exportTable lists the formats for the help.
func exportTable() string {
	var b strings.Builder
	t := columns.New(&b)
	for _, f := range exportFormats() {
		t.Row("  "+f.name, f.about)
	}
	_ = t.Flush() // into memory
	return b.String()
}

// export writes the network of a file in a format. It writes nothing if the network lacks
// what the format needs.
func export(file, format string, out cli.Output, stdout, stderr io.Writer) error {
	var chosen *exportFormat
	var known []string
	for _, f := range exportFormats() {
		if known = append(known, f.name); f.name == format {
			chosen = &f
		}
	}
	if chosen == nil {
		return cli.BadInput("--format %q: want one of %s", format, strings.Join(known, ", "))
	}
	n, err := cli.LoadNetwork(file)
	if err != nil {
		return err
	}
	var content strings.Builder
	if err := writeNetwork(&content, file, n, chosen.write, stderr); err != nil {
		return err
	}
	return out.SaveAndSay(stdout, format, func(w io.Writer) error {
		_, err := io.WriteString(w, content.String())
		return err
	})
}

// writeNetwork writes the network of a file in a format.
func writeNetwork(w io.Writer, file string, n *model.Network, write func(io.Writer, exported) error, stderr io.Writer) error {
	g, err := n.NameHosts(n.Graph())
	if err == nil {
		err = write(w, exported{n, g, stderr})
	}
	if err != nil {
		return cli.BadInput("%s: %w", file, err)
	}
	return nil
}
