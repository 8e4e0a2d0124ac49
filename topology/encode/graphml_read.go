package encode

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/topocast/topocast/topology"
)

// ReadGraphML reads a graph in GraphML: what WriteGraphML writes, and graphs of yEd, Gephi, networkx and
// others, with the keys of WriteGraphML by name, as far as they have them. A label of an edge that is a number, such as
// one drawn with yEd, is a bandwidth in Gbit/s unless bandwidth_Bps says it. A node drawn with
// yEd may have its name from there. Other keys are passed over. Where no node has a kind, ReadDOT tells how
// hosts are known, and what the given names are for, and of directed graphs.
//
// It refuses files with more than one graph, graphs in graphs, and hyperedges. Entities beyond those of
// XML itself are refused, too.
//
// Warnings say how the file was understood where that is a guess.
func ReadGraphML(r io.Reader, hosts []string) (_ *topology.Graph, warnings []string, err error) {
	defer naming("GraphML", &err)
	file, err := readXML(r, "graphml")
	if err != nil {
		return nil, nil, err
	}
	graphs := file.children("graph")
	if len(graphs) != 1 {
		return nil, nil, fmt.Errorf("%d graphs in the file: want one", len(graphs))
	}
	graph := graphs[0]
	g := graphmlReader{sketch: sketch{directed: graph.attr("edgedefault") == "directed"}, keys: file.children("key")}
	for _, e := range graph.children("hyperedge") {
		g.fail("line %d: hyperedges, which no link is", e.line)
	}
	for _, e := range graph.children("node") {
		g.place = fmt.Sprintf("line %d: node %q: ", e.line, shorten(e.attr("id")))
		if len(e.children("graph")) > 0 {
			g.fail("has a graph inside")
		}
		g.add(e.attr("id"), g.values(e))
	}
	for _, e := range graph.children("edge") {
		from, to, directed := e.attr("source"), e.attr("target"), e.attr("directed")
		g.place = fmt.Sprintf("line %d: edge %q to %q: ", e.line, shorten(from), shorten(to))
		if directed != "" && directed != "true" && directed != "false" {
			g.fail("directed %q: want true or false", shorten(directed))
		}
		g.connect(from, to, g.edge(directed == "true" || directed == "" && g.directed, g.values(e)))
	}
	return g.graph(hosts)
}

type graphmlReader struct {
	sketch
	keys []*element
}

// values are those of a node or an edge by the names of their keys, "label" also from what yEd draws.
func (g *graphmlReader) values(item *element) map[string]string {
	all := map[string]string{}
	for _, key := range g.keys {
		if of := key.attr("for"); of == item.Name.Local || of == "all" {
			for _, text := range key.children("default") {
				all[key.attr("attr.name")] = strings.TrimSpace(string(text.text))
			}
		}
	}
	drawn := ""
	for _, data := range item.children("data") {
		for _, shape := range data.inside {
			for _, label := range shape.children("NodeLabel", "EdgeLabel") {
				drawn = cmp.Or(drawn, strings.TrimSpace(string(label.text)))
			}
		}
		for _, key := range g.keys {
			if name := key.attr("attr.name"); name != "" && key.attr("id") == data.attr("key") {
				all[name] = string(data.text)
			}
		}
	}
	if _, ok := all["label"]; !ok {
		all["label"] = drawn
	}
	return all
}
