package encode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// The powers of ten of the units of labels in TGF.
const (
	tgfLatency    = -6 // us
	tgfThroughput = 6  // MB/s, 10^6 B/s
)

// WriteTGF writes a graph in the Trivial Graph Format (Bufe 2014, section 2.6): a line "id name" for each
// vertex, hosts first, a line "#", and a line "from to label" for each direction of each link. The label is
//
//	l: 3 t: 10
//
// with the latency l in us and the throughput t in MB/s (10^6 B/s) as far as they are known. Behind
// them stand, where they apply, p: and the probability of the arc, "estimated" for a throughput that was not
// measured, and "one-way" for an arc that has no opposite. The name of a switch
// is followed by "(switch)"; where there is no switch, that of a host by "(host)".
//
// It refuses names that do not fit on the line.
func WriteTGF(w io.Writer, g *topology.Graph) (err error) {
	defer naming("TGF", &err)
	b := bufio.NewWriter(w)
	switches := g.Vertices() > g.Hosts()
	for v := range g.Vertices() {
		name := g.Name(v)
		if text, kind := tgfKind(name); text != name || kind != "" || strings.ContainsAny(name, "\r\n") {
			return fmt.Errorf("vertex %d: name %q: it would not be read back", v, name)
		}
		mark := ""
		if g.IsSwitch(v) || !switches {
			mark = fmt.Sprintf(" (%s)", kindOf(g, v))
		}
		fmt.Fprintf(b, "%d %s%s\n", v, name, mark)
	}
	b.WriteString("#\n")
	for _, a := range g.Arcs() {
		fmt.Fprintf(b, "%d %d%s\n", a.From, a.To, tgfLabel(g, a))
	}
	return b.Flush() // the first error of all
}

// tgfLabel is the label of an arc, with a blank before each of its parts.
func tgfLabel(g *topology.Graph, a topology.Arc) string {
	var label []byte
	if !math.IsNaN(a.Latency) {
		label = quantity.AppendShifted(append(label, " l: "...), a.Latency, tgfLatency)
	}
	if !math.IsNaN(a.Bandwidth) {
		label = quantity.AppendShifted(append(label, " t: "...), a.Bandwidth, tgfThroughput)
	}
	if a.Probability != 1 {
		label = append(append(label, " p: "...), exact(a.Probability)...)
	}
	if a.Estimated {
		label = append(label, " estimated"...)
	}
	if g.ArcIndex(a.To, a.From) < 0 {
		label = append(label, " one-way"...)
	}
	return string(label)
}

// tgfKind splits the label of a vertex into its name and its kind.
func tgfKind(label string) (name string, kind vertexKind) {
	label = strings.TrimSpace(label)
	for _, k := range []vertexKind{kindHost, kindSwitch} {
		if text, ok := strings.CutSuffix(label, fmt.Sprintf(" (%s)", k)); ok {
			return strings.TrimSpace(text), k
		}
	}
	return label, ""
}

// ReadTGF reads a graph in the Trivial Graph Format, with the labels that WriteTGF writes. An edge whose
// opposite is not in the file leads both ways, unless it is labelled one-way. A vertex without label is named by
// its id; where none is marked as a host or a switch, ReadDOT tells how hosts are known, and what
// the given names are for. Other labels of edges are passed over.
//
// It refuses edges between vertices that are not listed, and lines above 4 MiB.
//
// Warnings say how the file was understood where that is a guess.
func ReadTGF(r io.Reader, hosts []string) (_ *topology.Graph, warnings []string, err error) {
	defer naming("TGF", &err)
	t := tgfReader{}
	t.eachLine(r, t.line)
	if !t.isBehind {
		t.fail("no line with # alone between vertices and edges")
	}
	isThere := map[[2]int]bool{}
	for _, e := range t.edges {
		isThere[[2]int{e.From, e.To}] = true
	}
	for i, e := range t.edges {
		t.edges[i].oneWay = e.oneWay || isThere[[2]int{e.To, e.From}]
	}
	return t.graph(hosts)
}

type tgfReader struct {
	sketch
	isBehind bool // the line # has passed
}

// line reads one line of the file.
func (t *tgfReader) line(text string) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
	case text == "#" && t.isBehind:
		t.fail("a second #")
	case text == "#":
		t.isBehind = true
	case t.isBehind:
		t.lineOfEdge(text)
	default:
		m := tgfVertex.FindStringSubmatch(text)
		name, kind := tgfKind(m[2])
		t.add(m[1], map[string]string{"label": name, "kind": string(kind)})
	}
}

var (
	tgfVertex = regexp.MustCompile(`^(\S+)\s*(.*)$`)
	tgfEdge   = regexp.MustCompile(`^(\S+)\s+(\S+)\s*(.*)$`)

	// tgfPart is a part of an edge's label, and tgfNames are the attributes that l, t and p stand for.
	tgfPart  = regexp.MustCompile(`^\s*(?:([ltp]):\s*(\S*)|(estimated|one-way)(?:\s|$))`)
	tgfNames = map[string]string{"l": "latency_us", "t": "bandwidth_MBps", "p": "probability"}
)

// lineOfEdge reads the line of an edge. What stands in its label behind the known parts is for people.
func (t *tgfReader) lineOfEdge(text string) {
	parts := tgfEdge.FindStringSubmatch(text)
	if parts == nil {
		t.fail("%q: want two vertices", shorten(text))
		return
	}
	from, to, label := parts[1], parts[2], parts[3]
	oneWay, attributes := false, map[string]string{}
	for m := tgfPart.FindStringSubmatch(label); m != nil; m = tgfPart.FindStringSubmatch(label) {
		label = label[len(m[0]):]
		switch {
		case m[3] == "one-way":
			oneWay = true
		case m[3] != "":
			attributes["estimated"] = "true"
		case m[2] == "":
			t.fail("%s: nothing behind it: want a number", m[1])
		default:
			attributes[tgfNames[m[1]]] = m[2]
		}
	}
	t.connect(from, to, t.edge(oneWay, attributes))
}
