package encode

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/topocast/topocast/topology"
)

// maxXML bounds the size of a file of XML in bytes.
const maxXML = 256 << 20

// ReadGraphML reads a graph in GraphML: what WriteGraphML writes, and graphs of yEd, Gephi, networkx and
// others, with the keys of WriteGraphML by name, as far as they have them. A label of an edge that is a number, such as
// one drawn with yEd, is a bandwidth in Gbit/s unless bandwidth_Bps says it; a node drawn with
// yEd may have its name from there. Other keys are passed over. Where no node has a kind, ReadDOT tells how
// hosts are known, and what the given names are for.
//
// It refuses files with more than one graph, graphs in graphs, and hyperedges. Entities beyond those of
// XML itself are refused, too.
func ReadGraphML(r io.Reader, hosts []string) (_ *topology.Graph, err error) {
	defer naming("GraphML", &err)
	var file graphmlFile
	if err := decodeXML(r, maxXML, &file); err != nil {
		return nil, err
	}
	if len(file.Graphs) != 1 {
		return nil, fmt.Errorf("%d graphs in the file: want one", len(file.Graphs))
	}
	graph := &file.Graphs[0]
	if len(graph.Hyperedges) > 0 {
		return nil, fmt.Errorf("hyperedges, which no link is")
	}
	g := graphmlReader{keys: map[string]graphmlKey{}, directed: graph.Direction == "directed"}
	for _, k := range file.Keys {
		g.keys[k.ID] = k
	}
	for i := range graph.Nodes {
		if err := g.node(&graph.Nodes[i]); err != nil {
			return nil, fmt.Errorf("node %q: %w", shorten(graph.Nodes[i].ID), err)
		}
	}
	for i := range graph.Edges {
		e := &graph.Edges[i]
		if err := g.edge(e); err != nil {
			return nil, fmt.Errorf("edge %q to %q: %w", shorten(e.Source), shorten(e.Target), err)
		}
	}
	return g.graph(hosts)
}

// graphmlFile is the part of GraphML that is read.
type graphmlFile struct {
	XMLName xml.Name     `xml:"graphml"`
	Keys    []graphmlKey `xml:"key"`
	Graphs  []struct {
		Direction  string        `xml:"edgedefault,attr"`
		Nodes      []graphmlItem `xml:"node"`
		Edges      []graphmlItem `xml:"edge"`
		Hyperedges []struct{}    `xml:"hyperedge"`
	} `xml:"graph"`
}

type graphmlKey struct {
	ID      string  `xml:"id,attr"`
	For     string  `xml:"for,attr"`
	Name    string  `xml:"attr.name,attr"`
	Default *string `xml:"default"`
}

// A graphmlItem is a node or an edge.
type graphmlItem struct {
	ID       string        `xml:"id,attr"`
	Source   string        `xml:"source,attr"`
	Target   string        `xml:"target,attr"`
	Directed string        `xml:"directed,attr"`
	Data     []graphmlData `xml:"data"`
	Graphs   []struct{}    `xml:"graph"`
}

// graphmlData has a text, or what yEd draws.
type graphmlData struct {
	Key   string `xml:"key,attr"`
	Text  string `xml:",chardata"`
	Drawn []struct {
		NodeLabels []string `xml:"NodeLabel"`
		EdgeLabels []string `xml:"EdgeLabel"`
	} `xml:",any"`
}

type graphmlReader struct {
	sketch
	keys     map[string]graphmlKey // by id
	directed bool
}

// values are those of an item by the names of their keys, "label" also from what is drawn.
func (g *graphmlReader) values(item *graphmlItem, of string) map[string]string {
	all := map[string]string{}
	for _, k := range g.keys {
		if k.Default != nil && (k.For == of || k.For == "all") {
			all[k.Name] = strings.TrimSpace(*k.Default)
		}
	}
	drawn := ""
	for _, d := range item.Data {
		for _, x := range d.Drawn {
			for _, label := range append(x.NodeLabels, x.EdgeLabels...) {
				if drawn == "" {
					drawn = strings.TrimSpace(label)
				}
			}
		}
		if name := g.keys[d.Key].Name; name != "" {
			all[name] = d.Text
		}
	}
	if _, ok := all["label"]; !ok && drawn != "" {
		all["label"] = drawn
	}
	return all
}

func (g *graphmlReader) node(item *graphmlItem) error {
	if len(item.Graphs) > 0 {
		return fmt.Errorf("has a graph inside")
	}
	v, err := g.add(item.ID)
	if err != nil {
		return err
	}
	values := g.values(item, "node")
	if label := values["label"]; label != "" {
		v.name = label
	}
	if kind := strings.TrimSpace(values["kind"]); kind != "" {
		v.kind, err = parseVertexKind(kind)
	}
	return err
}

func (g *graphmlReader) edge(item *graphmlItem) error {
	e := unknownEdge()
	switch item.Directed {
	case "":
		e.oneWay = g.directed
	case "true", "false":
		e.oneWay = item.Directed == "true"
	default:
		return fmt.Errorf("directed %q: want true or false", shorten(item.Directed))
	}
	if err := e.set(g.values(item, "edge")); err != nil {
		return err
	}
	return g.connect(item.Source, item.Target, e)
}
