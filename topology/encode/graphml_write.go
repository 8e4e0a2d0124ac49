package encode

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/topology"
)

// graphmlKeys are the attributes of GraphML that we write and read, by the elements that have them.
var graphmlKeys = [...]struct{ id, of, kind string }{
	{"label", "node", "string"},
	{"kind", "node", "string"},
	{"latency_s", "edge", "double"},
	{"bandwidth_Bps", "edge", "double"},
	{"probability", "edge", "double"},
	{"estimated", "edge", "boolean"},
}

// WriteGraphML writes a graph in GraphML, which yEd, Gephi and networkx open. Vertices are n0, n1 and so on,
// hosts first, with the keys label, their name, and kind, host or switch. Edges have the keys latency_s,
// bandwidth_Bps, probability where it is below 1, and estimated where the bandwidth was not
// measured; what is not known is left out.
//
// The graph is undirected if of all links both directions have equal values. In others each direction
// is an edge.
func WriteGraphML(w io.Writer, g *topology.Graph) (err error) {
	defer naming("GraphML", &err)
	edges, direction := edgesOf(g), "undirected"
	isDirected := slices.ContainsFunc(edges, isOneWay)
	if isDirected {
		direction = "directed"
	}
	b := bufio.NewWriter(w)
	b.WriteString(xml.Header + "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n")
	for _, k := range graphmlKeys {
		fmt.Fprintf(b, "<key id=%q for=%q attr.name=%q attr.type=%q/>\n", k.id, k.of, k.id, k.kind)
	}
	fmt.Fprintf(b, "<graph id=\"topology\" edgedefault=%q>\n", direction)
	for v := range g.Vertices() {
		fmt.Fprintf(b, "<node id=\"n%d\"><data key=\"label\">%s</data><data key=\"kind\">%s</data></node>\n", v, xmlText(g.Name(v)), kindOf(g, v))
	}
	for _, e := range edges {
		writeGraphMLEdge(b, &e)
		if isDirected && !e.oneWay {
			e.From, e.To = e.To, e.From
			writeGraphMLEdge(b, &e)
		}
	}
	b.WriteString("</graph>\n</graphml>\n")
	return b.Flush() // the first error of all
}

func writeGraphMLEdge(b *bufio.Writer, e *sketchEdge) {
	fmt.Fprintf(b, "<edge source=\"n%d\" target=\"n%d\">", e.From, e.To)
	for _, v := range e.values("latency_s", "bandwidth_Bps") {
		fmt.Fprintf(b, "<data key=%q>%s</data>", v[0], v[1])
	}
	b.WriteString("</edge>\n")
}

// xmlText is a text as it stands in XML, in elements and in attributes.
func xmlText(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a Buffer takes all
	return b.String()
}
