package encode

import (
	"fmt"
	"io"
	"regexp"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// A Format is a kind of file that describes a machine.
type Format struct {
	Name  string // by which the command line calls it
	About string // which programs read or write it, and what it holds

	// Called is what messages call a file of this format that is read as a machine; "": it is not read as one.
	Called string

	// Is tells whether a file has this format; nil: formats with Called that have no Is are recognised by IsFabric, or
	// are JSON of topocast.
	Is func(data []byte) bool

	// ReadGraph reads the links. hosts are the names of the hosts where they are known: they tell hosts from switches
	// where a file does not. Warnings say how it was understood where that is a guess.
	ReadGraph func(r io.Reader, hosts []string) (_ *topology.Graph, warnings []string, err error)

	WriteGraph  func(w io.Writer, g *topology.Graph) error // nil: the format does not hold links alone
	WriteFabric func(w io.Writer, f *Fabric) error         // nil: the format does not hold hosts on switches
}

// Formats lists the formats that describe a machine. A file has the first one whose Is says so.
func Formats() []Format {
	return []Format{
		{Name: "json", About: "topocast itself: links and groups, without parameters", Called: "JSON of topocast"},
		{
			Name: "node-link", About: "networkx and NetJSON: links with latency and bandwidth", Called: "node-link JSON",
			Is: IsNodeLink, ReadGraph: ReadNodeLink,
		},
		{
			Name: "dot", About: "Graphviz: links with latency (s) and bandwidth (B/s)", Called: "DOT",
			Is: beginsWith(`(?i:strict|graph|digraph)\b[^{]{0,200}\{`), ReadGraph: ReadDOT, WriteGraph: WriteDOT,
		},
		{
			Name: "graphml", About: "yEd, Gephi, networkx: links with latency_s, bandwidth_Bps", Called: "GraphML",
			Is: hasRoot("graphml"), ReadGraph: ReadGraphML, WriteGraph: WriteGraphML,
		},
		{
			Name: "simgrid", About: "SimGrid: a platform, version 4.1", Called: "a platform of SimGrid",
			Is: hasRoot("platform"), ReadGraph: ReadSimGrid,
		},
		{
			Name: "ibnetdiscover", About: "tools of InfiniBand: a fabric as ibnetdiscover prints it", Called: "an ibnetdiscover dump",
			Is: IsIbnetdiscover, ReadGraph: ReadIbnetdiscover, WriteGraph: WriteIbnetdiscover,
		},
		{Name: "lgate", About: "LGate: the groups of ranks", Called: "groups of LGate", Is: beginsWith(`cluster\s*\{`)},
		{
			Name: "tgf", About: "yEd and others: links labelled with us and MB/s", Called: "TGF",
			Is: regexp.MustCompile(`(?m)^[^{#\s][^{]*\n?^#[ \t\r]*$`).Match, ReadGraph: ReadTGF, WriteGraph: WriteTGF,
		},
		{Name: "csv", About: "spreadsheets and scripts: latencies in us of all pairs"},
		{
			Name: "slurm-conf", About: "Slurm's topology.conf for topology/tree: hosts on switches",
			Called: "topology.conf or topology.yaml of Slurm", WriteFabric: WriteSlurmConf,
		},
		{Name: "slurm-yaml", About: "Slurm's topology.yaml with a tree (25.05 or later)", WriteFabric: WriteSlurmYAML},
		{Name: "slurm-block", About: "Slurm's topology.conf for topology/block (23.11 or later)", WriteFabric: WriteSlurmBlocks},
		{Name: "slurm-block-yaml", About: "Slurm's topology.yaml with blocks (25.05 or later)", WriteFabric: WriteSlurmBlockYAML},
		{
			Name: "topograph", About: "topograph: the switches above each host, nearest first", Called: "JSON of topograph",
			WriteFabric: WriteTopograph,
		},
	}
}

// Readable lists what messages and help texts call the formats that are read as a machine.
func Readable() string {
	var called []string
	for _, f := range Formats() {
		if f.Called != "" {
			called = append(called, f.Called)
		}
	}
	return words.Or(called)
}

// calledMachine is what messages call a file that describes a machine, "" of others. TGF is left out: tables with comments look like it.
func calledMachine(data []byte) string {
	switch root := XMLRoot(data); {
	case root != "":
		return fmt.Sprintf("XML of <%s>", root)
	case IsFabric(data):
		return "a scheduler's, such as topology.conf of Slurm"
	}
	for _, f := range Formats() {
		if f.Is != nil && f.Name != "tgf" && f.Is(data) {
			return f.Called
		}
	}
	return ""
}

// beginsWith tells whether a file begins with a pattern, after comments of DOT.
func beginsWith(pattern string) func([]byte) bool {
	return regexp.MustCompile(`^(?s:\s+|//[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*` + pattern).Match
}

// hasRoot tells whether a file is XML with a root of that name.
func hasRoot(name string) func([]byte) bool {
	return func(data []byte) bool { return XMLRoot(data) == name }
}

// Unread says of a file whose format is known and not read what it is, and what to take in its place; "" of others.
func Unread(data []byte) string {
	for _, f := range []struct {
		is   func([]byte) bool
		says string
	}{
		{beginsWith(`(?i:(Creator|Version)\s+\S[^\n]*\s+)*(?i:graph)\s*\[`), "is GML: want GraphML, as write_graphml of networkx makes of it"},
		{hasRoot("gexf"), "is GEXF: want GraphML, which Gephi exports, too"},
		{regexp.MustCompile(`(?m)^.*\d\[  \] ==\(`).Match, "is of iblinkinfo: want what ibnetdiscover prints"},
		{regexp.MustCompile(`(?m)^\s*(CA|SW)\s+\d+\s+\d+ 0x[0-9a-f]{16} \S+ \S+ - `).Match, "is of ibnetdiscover -p: want what ibnetdiscover prints without it"},
		{beginsWith(`Machine( L#\d+)? \(.*\n\s+\S+ L#0`), "is lstopo's text: want lstopo --of xml"},
		{
			regexp.MustCompile(`(?m)^\s*GPU0\s+X\s+(NV\d+|SYS|NODE|PHB|PXB|PIX|SOC|OK)\b`).Match,
			"names kinds of links, as nvidia-smi topo prints them, and no times: want times of all pairs, such as of p2pBandwidthLatencyTest",
		},
		{hasRoot("system"), "is NCCL's description of one host: want a graph of all hosts, such as DOT"},
		{regexp.MustCompile(`^(\s*\{\s*"lldp"|-+\s+LLDP neighbors:)`).Match, "lists the neighbours of one host: want a graph of all hosts, such as DOT"},
	} {
		if f.is(data) {
			return f.says
		}
	}
	return ""
}
