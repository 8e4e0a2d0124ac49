package encode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
)

// A sketch is a graph as the files of other tools have it: vertices in any order, which may not say
// whether they are hosts or switches, and edges of one direction or of both.
type sketch struct {
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

// A sketchEdge has the values of an arc, NaN where they are not known.
type sketchEdge struct {
	from, to    int
	oneWay      bool    // else the values are those of both directions
	latency     float64 // s
	bandwidth   float64 // B/s
	probability float64
	estimated   bool
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
		edges = append(edges, sketchEdge{a.From, a.To, !duplex, a.Latency, a.Bandwidth, a.Probability, a.Estimated})
	}
	return edges
}

// vertex is the number of the vertex of an id, which is added if it is new, with its id as its name.
func (s *sketch) vertex(id string) (int, error) {
	if v, ok := s.number[id]; ok {
		return v, nil
	}
	if len(s.vertices) == maxHosts {
		return 0, fmt.Errorf("more than %d vertices", maxHosts)
	}
	if s.number == nil {
		s.number = map[string]int{}
	}
	v := len(s.vertices)
	s.number[id] = v
	s.vertices = append(s.vertices, sketchVertex{id: id, name: id})
	return v, nil
}

// join adds an edge.
func (s *sketch) join(e sketchEdge) error {
	if len(s.edges) == maxEdges {
		return fmt.Errorf("more than %d edges", maxEdges)
	}
	s.edges = append(s.edges, e)
	return nil
}

// add is vertex for an id that must be new, with what its attributes say.
func (s *sketch) add(id string, attributes map[string]string) error {
	if _, twice := s.number[id]; twice {
		return fmt.Errorf("vertex %q is there twice", shorten(id))
	}
	v, err := s.vertex(id)
	if err != nil {
		return err
	}
	return s.describe(v, attributes)
}

// kindWords are what files call hosts and switches.
var kindWords = map[string]vertexKind{
	"host": kindHost, "server": kindHost, "compute": kindHost, "oob-server": kindHost,
	"switch": kindSwitch, "router": kindSwitch, "leaf": kindSwitch, "spine": kindSwitch, "superspine": kindSwitch, "tor": kindSwitch,
	"exit": kindSwitch, "oob-switch": kindSwitch,
}

// describe sets what attributes say of a vertex: its name by its label or name, and by its kind, type, function or role
// whether it is a host or a switch. Others, and types, functions and roles of other words, are for people.
func (s *sketch) describe(v int, attributes map[string]string) error {
	vertex := &s.vertices[v]
	vertex.name = cmp.Or(attributes["label"], attributes["name"], vertex.name)
	for _, name := range []string{"role", "function", "type", "kind"} { // the last one counts
		text := strings.TrimSpace(attributes[name])
		switch kind, known := kindWords[strings.ToLower(text)]; {
		case known:
			vertex.kind = kind
		case name == "kind" && text != "":
			return fmt.Errorf("kind %q: want host or switch", shorten(text))
		}
	}
	return nil
}

// connect is join for an edge between vertices that are there.
func (s *sketch) connect(from, to string, e sketchEdge) error {
	var known [2]bool
	e.from, known[0] = s.number[from]
	e.to, known[1] = s.number[to]
	for i, id := range []string{from, to} {
		if !known[i] {
			return fmt.Errorf("there is no vertex %q", shorten(id))
		}
	}
	return s.join(e)
}

// graph is the graph of the sketch, hosts and switches each in the order of the file. Names are those of
// vertices that are known to be hosts; they count where the file itself does not tell hosts from switches. A directed graph in which
// no vertex could answer another is a drawing of cables, as of a tree from its root: all its edges lead both ways, and a warning says so.
func (s *sketch) graph(names []string) (*topology.Graph, []string, error) {
	if err := s.tellKinds(names); err != nil {
		return nil, nil, err
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

// onlyGraph leaves out what graph warns of.
func onlyGraph(g *topology.Graph, _ []string, err error) (*topology.Graph, error) { return g, err }

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
		if e.from == e.to {
			continue // no message takes it
		}
		ways := [][2]int{{e.from, e.to}, {e.to, e.from}}
		if e.oneWay {
			ways = ways[:1]
		}
		for _, w := range ways {
			if at, twice := seen[w]; twice { // two cables between two switches are one link of both rates
				a := &arcs[at]
				a.Latency, a.Bandwidth = math.Min(a.Latency, e.latency), a.Bandwidth+e.bandwidth
				continue
			}
			seen[w] = len(arcs)
			arcs = append(arcs, topology.Arc{
				From: number[w[0]], To: number[w[1]],
				Latency: e.latency, Bandwidth: e.bandwidth, Probability: e.probability, Estimated: e.estimated,
			})
		}
	}
	return topology.NewGraph(hosts, len(all)-hosts, all, arcs)
}

// hasCircle tells whether arcs lead from a vertex back to it. It takes vertices away into which no arc leads, again and again. O(m).
func hasCircle(g *topology.Graph) bool {
	into := make([]int, g.Vertices()) // arcs from vertices that are left
	var away []int
	for v := range into {
		if into[v] = len(g.In(v)); into[v] == 0 {
			away = append(away, v)
		}
	}
	for i := 0; i < len(away); i++ {
		for _, a := range g.Out(away[i]) {
			if into[a.To]--; into[a.To] == 0 {
				away = append(away, a.To)
			}
		}
	}
	return len(away) < g.Vertices()
}

// tellKinds says of every vertex whether it is a host or a switch. Where the file says it of some, all of
// one kind, the others are of the other kind. Where it says nothing, hosts are the vertices of the given names and
// those with one neighbour at most. So are those that share a name, as cores of one processor do (Bannikov 2014, section
// 2.3). Where there are none of these, all are.
func (s *sketch) tellKinds(names []string) error {
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
			return fmt.Errorf("vertex %q: is it a host or a switch? Others say so: give it the kind host or switch", v.id)
		case said[kindHost]:
			v.kind = kindSwitch
		case said[kindSwitch] || isHost[i]:
			v.kind = kindHost
		default:
			v.kind = kindSwitch
		}
	}
	return nil
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
	neighbour := slices.Repeat([]int{-1}, len(s.vertices)) // the first one
	several := make([]bool, len(s.vertices))
	for _, e := range s.edges {
		for _, end := range [][2]int{{e.from, e.to}, {e.to, e.from}} {
			v, u := end[0], end[1]
			if neighbour[v] < 0 && u != v {
				neighbour[v] = u
			}
			several[v] = several[v] || u != v && u != neighbour[v]
		}
	}
	isHost := make([]bool, len(s.vertices))
	for i, v := range s.vertices {
		isHost[i] = share[v.name] > 1 || !several[i]
	}
	if !slices.Contains(isHost, true) {
		return slices.Repeat([]bool{true}, len(isHost))
	}
	return isHost
}

// exact writes a number so that reading gives it back.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
