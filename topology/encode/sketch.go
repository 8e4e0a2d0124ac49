package encode

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/graph/topo"

	"github.com/topocast/topocast/topology"
)

// A sketch is a graph as the files of other tools have it: vertices in any order, which may not say
// whether they are hosts or switches, and edges of one direction or of both. Readers add what they find and look at no errors:
// graph returns the first one.
type sketch struct {
	firstError
	directed bool // edges have a direction unless they say otherwise
	vertices []sketchVertex
	number   map[string]int // by id
	edges    []sketchEdge
}

type sketchVertex struct {
	id, name string
	kind     vertexKind
}

// A vertexKind is what a vertex says it is.
type vertexKind string

const (
	kindHost   vertexKind = "host"
	kindSwitch vertexKind = "switch"
)

// A sketchEdge is an arc, whose values are NaN where they are not known.
type sketchEdge struct {
	topology.Arc
	oneWay bool // else the values are those of both directions
}

// maxEdges bounds what a short text may stand for, such as all edges between two sets.
const maxEdges = 1 << 20

// deepestNested bounds how far parts of a drawing, or zones, nest in a file.
const deepestNested = 50

// kindOf is what a vertex of a graph is.
func kindOf(g *topology.Graph, v int) vertexKind {
	if g.IsSwitch(v) {
		return kindSwitch
	}
	return kindHost
}

// edgesOf are the edges of a graph. Of two opposite arcs with equal values one is left, from the higher vertex,
// so that switches come before their hosts and are drawn above them.
func edgesOf(g *topology.Graph) []sketchEdge {
	var edges []sketchEdge
	for _, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		duplex := back >= 0 && sameValues(a, g.Arcs()[back])
		if duplex && a.From < a.To {
			continue
		}
		edges = append(edges, sketchEdge{a, !duplex})
	}
	return edges
}

// isOneWay tells whether an edge has one direction alone.
func isOneWay(e sketchEdge) bool { return e.oneWay }

// vertex is the number of the vertex of an id, which is added if it is new, with its id as its name.
func (s *sketch) vertex(id string) int {
	if v, ok := s.number[id]; ok {
		return v
	}
	if len(s.vertices) == maxHosts {
		s.fail("more than %d vertices", maxHosts)
		return 0
	}
	if s.number == nil {
		s.number = map[string]int{}
	}
	v := len(s.vertices)
	s.number[id] = v
	s.vertices = append(s.vertices, sketchVertex{id: id, name: id})
	return v
}

// add is vertex for an id that must be new, with what its attributes say.
func (s *sketch) add(id string, attributes map[string]string) {
	if _, twice := s.number[id]; twice {
		s.fail("vertex %q is there twice", shorten(id))
	}
	s.describe(s.vertex(id), attributes)
}

// join adds an edge.
func (s *sketch) join(e sketchEdge) {
	if len(s.edges) == maxEdges {
		s.fail("more than %d edges", maxEdges)
		return
	}
	s.edges = append(s.edges, e)
}

// connect is join for an edge between vertices that are there.
func (s *sketch) connect(from, to string, e sketchEdge) {
	end := func(id string) int {
		v, isKnown := s.number[id]
		if !isKnown {
			s.fail("there is no vertex %q", shorten(id))
		}
		return v
	}
	e.From, e.To = end(from), end(to)
	s.join(e)
}

// kindWords are what files call hosts and switches.
var kindWords = map[string]vertexKind{
	"host": kindHost, "server": kindHost, "compute": kindHost, "oob-server": kindHost,
	"switch": kindSwitch, "router": kindSwitch, "leaf": kindSwitch, "spine": kindSwitch, "superspine": kindSwitch, "tor": kindSwitch,
	"exit": kindSwitch, "oob-switch": kindSwitch,
}

// describe sets what attributes say of a vertex: its name by its label or name, and by its kind, type, function or role
// whether it is a host or a switch. Others, and types, functions and roles of other words, are for people.
func (s *sketch) describe(v int, attributes map[string]string) {
	vertex := &s.vertices[v]
	vertex.name = cmp.Or(attributes["label"], attributes["name"], vertex.name)
	for _, name := range []string{"role", "function", "type", "kind"} { // the last one counts
		text := strings.TrimSpace(attributes[name])
		switch kind, known := kindWords[strings.ToLower(text)]; {
		case known:
			vertex.kind = kind
		case name == "kind" && text != "":
			s.fail("kind %q: want host or switch", shorten(text))
		}
	}
}

// graph is the graph of the sketch, hosts and switches each in the order of the file. Names are those of
// vertices that are known to be hosts; they count where the file itself does not tell hosts from switches. A directed graph in which
// no vertex could answer another is a drawing of cables, as of a tree from its root: all its edges lead both ways, and a warning says so.
func (s *sketch) graph(names []string) (*topology.Graph, []string, error) {
	s.place = ""
	s.tellKinds(names)
	if s.err != nil {
		return nil, nil, s.err
	}
	g, err := s.withArcs()
	if err != nil || !s.directed || hasCircle(g) {
		return g, nil, err
	}
	for i := range s.edges {
		s.edges[i].oneWay = false
	}
	g, err = s.withArcs()
	return g, []string{"the directed edges are read as cables, which lead both ways: along their directions no vertex could answer another"}, err
}

// withArcs is the graph of the vertices, whose kinds are known, and of the edges as they lead.
func (s *sketch) withArcs() (*topology.Graph, error) {
	number, hosts := make([]int, len(s.vertices)), 0
	var all []string
	for _, kind := range []vertexKind{kindHost, kindSwitch} {
		for i, v := range s.vertices {
			if v.kind == kind {
				number[i], all = len(all), append(all, v.name)
			}
		}
		if kind == kindHost {
			hosts = len(all)
		}
	}
	arcs := make([]topology.Arc, 0, 2*len(s.edges))
	seen := make(map[[2]int]int, 2*len(s.edges)) // index of the arc
	for _, e := range s.edges {
		if e.From == e.To {
			continue // no message takes it
		}
		directions := [][2]int{{e.From, e.To}, {e.To, e.From}}
		if e.oneWay {
			directions = directions[:1]
		}
		for _, w := range directions {
			if at, twice := seen[w]; twice { // two cables between two switches are one link of both rates
				a := &arcs[at]
				a.Latency, a.Bandwidth = math.Min(a.Latency, e.Latency), a.Bandwidth+e.Bandwidth
				continue
			}
			seen[w] = len(arcs)
			e.From, e.To = number[w[0]], number[w[1]]
			arcs = append(arcs, e.Arc)
		}
	}
	return topology.NewGraph(hosts, len(all)-hosts, all, arcs)
}

// hasCircle tells whether arcs lead from a vertex back to it.
func hasCircle(g *topology.Graph) bool {
	_, err := topo.Sort(g.Weighted())
	return err != nil
}

// tellKinds says of every vertex whether it is a host or a switch. Where the file says it of some, all of
// one kind, the others are of the other kind. Where it says nothing, hosts are the vertices of the given names and
// those with one neighbour at most. So are those that share a name, as cores of one processor do (Bannikov 2014, section
// 2.3). Where there are none of these, all are.
func (s *sketch) tellKinds(names []string) {
	said := map[vertexKind]bool{}
	for _, v := range s.vertices {
		said[v.kind] = true
	}
	isHost := s.likelyHosts(names)
	for i := range s.vertices {
		v := &s.vertices[i]
		switch {
		case v.kind != "":
		case said[kindHost] && said[kindSwitch]:
			s.fail("vertex %q: is it a host or a switch? Others say so: give it the kind host or switch", v.id)
		case said[kindHost]:
			v.kind = kindSwitch
		case said[kindSwitch] || isHost[i]:
			v.kind = kindHost
		default:
			v.kind = kindSwitch
		}
	}
}

// likelyHosts tells for each vertex whether it is a host, where the file says it of none.
func (s *sketch) likelyHosts(names []string) []bool {
	share := map[string]int{}
	for _, v := range s.vertices {
		share[v.name]++
	}
	for _, name := range names {
		share[name] += 2
	}
	neighbours, seen := make([]int, len(s.vertices)), map[[2]int]bool{}
	for _, e := range s.edges {
		for _, ends := range [][2]int{{e.From, e.To}, {e.To, e.From}} {
			if e.From != e.To && !seen[ends] {
				seen[ends] = true
				neighbours[ends[0]]++
			}
		}
	}
	isHost := make([]bool, len(s.vertices))
	for i, v := range s.vertices {
		isHost[i] = share[v.name] > 1 || neighbours[i] < 2
	}
	if !slices.Contains(isHost, true) {
		return slices.Repeat([]bool{true}, len(isHost))
	}
	return isHost
}

// exact writes a number so that reading gives it back.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
