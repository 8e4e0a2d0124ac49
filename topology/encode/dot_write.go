package encode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// WriteDOT writes a graph in the language of Graphviz, for its tools to draw and for ReadDOT. Vertices
// are numbered, hosts first, and have the attributes label, their name, and kind, host or switch. Edges
// have the attributes latency in s, bandwidth in B/s, probability where it is below 1 and estimated
// where the bandwidth was not measured; what is not known is left out. The label of an edge
// is its bandwidth in Gbit/s (Bannikov 2014, section 2.3), or, where that is not known, its latency.
//
// Two opposite arcs with equal values are one edge without direction; a graph that has others is a
// digraph.
func WriteDOT(w io.Writer, g *topology.Graph) (err error) {
	defer naming("DOT", &err)
	b := bufio.NewWriter(w)
	edges := edgesOf(g)
	kind, join, duplex := "graph", "--", ""
	if slices.ContainsFunc(edges, isOneWay) {
		kind, join, duplex = "digraph", "->", " dir=none"
	}
	fmt.Fprintf(b, "%s topology {\n", kind)
	if slices.ContainsFunc(edges, func(e sketchEdge) bool { return !math.IsNaN(e.Bandwidth) }) {
		b.WriteString("  graph [label=\"numbers at links: Gbit/s\"]\n")
	}
	for v := range g.Vertices() {
		shape := ""
		if !g.IsSwitch(v) {
			shape = " shape=box"
		}
		fmt.Fprintf(b, "  %d [label=%s kind=%s%s]\n", v, dotQuoted(g.Name(v)), kindOf(g, v), shape)
	}
	for _, e := range edges {
		fmt.Fprintf(b, "  %d %s %d [%s", e.From, join, e.To, dotValues(&e))
		switch {
		case !e.oneWay:
			b.WriteString(duplex)
		case e.From < e.To && g.ArcIndex(e.To, e.From) >= 0:
			b.WriteString(" constraint=false") // the other way says which end is drawn above
		}
		b.WriteString("]\n")
	}
	b.WriteString("}\n")
	return b.Flush() // the first error of all
}

// dotValues are the attributes of an edge.
func dotValues(e *sketchEdge) string {
	var all []string
	// Numbers with an exponent have to be quoted.
	add := func(key, value string) { all = append(all, key+"="+dotQuoted(value)) }
	switch {
	case !math.IsNaN(e.Bandwidth):
		add("label", strconv.FormatFloat(e.Bandwidth*8e-9, 'g', 4, 64))
	case !math.IsNaN(e.Latency):
		add("label", quantity.Seconds(e.Latency))
	}
	for _, v := range e.values("latency", "bandwidth") {
		add(v[0], v[1])
	}
	return strings.Join(all, " ")
}

// dotQuoted is a text as a string of DOT. A backslash begins an escape in labels.
func dotQuoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
