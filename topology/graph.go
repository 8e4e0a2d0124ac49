package topology

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/graph/simple"

	"github.com/topocast/topocast/internal/words"
)

// An Arc is one direction of a link.
type Arc struct {
	From, To    int     // vertices
	Latency     float64 // s; NaN if not known
	Bandwidth   float64 // B/s; NaN if not known
	Probability float64 // that the arc exists, in (0, 1]; 1 where a method gives none
	Estimated   bool    // Bandwidth was not measured: it is that of links like this one, or a lower bound
}

// A Graph is the wiring of a machine: vertices 0..Hosts()-1 are hosts (ranks,
// cores or nodes, as measured), the vertices after them switches. It is
// immutable. Weighted gives it to gonum's algorithms.
type Graph struct {
	hosts    int
	vertices int
	names    []string                 // nil: default names
	arcs     []Arc                    // sorted by From, then To
	start    []int                    // arcs[start[v]:start[v+1]] leave v
	in       []int                    // indices of arcs, sorted by To, then From
	inStart  []int                    // in[inStart[v]:inStart[v+1]] enter v
	sides    func() map[uint64][2]int // see findSides; found when first asked for
}

// NewGraph returns the graph of the given arcs, which it copies. Names are the
// vertices' names, hosts first, or nil. It refuses arcs outside the vertices,
// loops and double arcs. It refuses latencies that are negative or infinite, and bandwidths that are not
// above zero and finite. It refuses estimated bandwidths that are missing, and probabilities outside
// (0, 1]. O(m log m) for m arcs.
func NewGraph(hosts, switches int, names []string, arcs []Arc) (*Graph, error) {
	if hosts < 0 || switches < 0 {
		return nil, fmt.Errorf("topology: graph: %d hosts, %d switches: want neither below 0", hosts, switches)
	}
	n := hosts + switches
	if names != nil && len(names) != n {
		return nil, fmt.Errorf("topology: graph: %s for %d vertices", words.Count(len(names), "name"), n)
	}
	g := &Graph{hosts: hosts, vertices: n, names: slices.Clone(names), arcs: slices.Clone(arcs)}
	for _, a := range g.arcs {
		if err := a.check(n); err != nil {
			return nil, fmt.Errorf("topology: graph: arc %d->%d: %w", a.From, a.To, err)
		}
	}
	slices.SortFunc(g.arcs, func(a, b Arc) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return a.To - b.To
	})
	for i := 1; i < len(g.arcs); i++ {
		if a, b := g.arcs[i-1], g.arcs[i]; a.From == b.From && a.To == b.To {
			return nil, fmt.Errorf("topology: graph: arc %d->%d: given twice", a.From, a.To)
		}
	}
	g.index()
	g.sides = sync.OnceValue(g.findSides)
	return g, nil
}

// WithArcs returns the graph with other arcs between the same vertices. It
// refuses what NewGraph refuses. O(m log m) for m arcs.
func (g *Graph) WithArcs(arcs []Arc) (*Graph, error) {
	return NewGraph(g.hosts, g.vertices-g.hosts, g.names, arcs)
}

// WithHostNames is the graph with other names of its hosts; switches keep theirs.
func (g *Graph) WithHostNames(hosts []string) (*Graph, error) {
	if len(hosts) != g.hosts {
		return nil, fmt.Errorf("topology: graph: %s for %s", words.Count(len(hosts), "name"), words.Count(g.hosts, "host"))
	}
	names := slices.Clone(hosts)
	for v := g.hosts; v < g.vertices; v++ {
		names = append(names, g.Name(v))
	}
	return NewGraph(g.hosts, g.vertices-g.hosts, names, g.arcs)
}

func (a Arc) check(n int) error {
	switch {
	case a.From < 0 || a.From >= n || a.To < 0 || a.To >= n:
		return fmt.Errorf("vertex outside [0, %d)", n)
	case a.From == a.To:
		return fmt.Errorf("loop")
	case a.Latency < 0 || math.IsInf(a.Latency, 0):
		return fmt.Errorf("latency %g s: want at least 0 and finite, or NaN", a.Latency)
	case a.Bandwidth <= 0 || math.IsInf(a.Bandwidth, 0):
		return fmt.Errorf("bandwidth %g B/s: want above 0 and finite, or NaN", a.Bandwidth)
	case a.Estimated && math.IsNaN(a.Bandwidth):
		return fmt.Errorf("bandwidth estimated, but not given")
	case !(a.Probability > 0 && a.Probability <= 1):
		return fmt.Errorf("probability %g: want in (0, 1]", a.Probability)
	}
	return nil
}

// index fills start, in and inStart from the sorted arcs by counting.
func (g *Graph) index() {
	g.start = make([]int, g.vertices+1)
	g.inStart = make([]int, g.vertices+1)
	for _, a := range g.arcs {
		g.start[a.From+1]++
		g.inStart[a.To+1]++
	}
	for v := range g.vertices {
		g.start[v+1] += g.start[v]
		g.inStart[v+1] += g.inStart[v]
	}
	next := slices.Clone(g.inStart)
	g.in = make([]int, len(g.arcs))
	for i, a := range g.arcs {
		g.in[next[a.To]] = i
		next[a.To]++
	}
}

// AppendLink appends to dst the two arcs of a full-duplex link between u and v. The latency is in s, the bandwidth in
// B/s per direction; NaN is not known.
func AppendLink(dst []Arc, u, v int, latency, bandwidth float64) []Arc {
	return append(dst,
		Arc{From: u, To: v, Latency: latency, Bandwidth: bandwidth, Probability: 1},
		Arc{From: v, To: u, Latency: latency, Bandwidth: bandwidth, Probability: 1})
}

// Hosts is the number of hosts; they are the vertices 0..Hosts()-1.
func (g *Graph) Hosts() int { return g.hosts }

// Vertices is the number of hosts and switches.
func (g *Graph) Vertices() int { return g.vertices }

// IsSwitch tells whether vertex v is a switch.
func (g *Graph) IsSwitch(v int) bool { return v >= g.hosts }

// Name is the name of vertex v: the one given to NewGraph, or "h3" for host 3
// and "s0" for the first switch.
func (g *Graph) Name(v int) string {
	switch {
	case g.names != nil && g.names[v] != "":
		return g.names[v]
	case v < g.hosts:
		return fmt.Sprintf("h%d", v)
	default:
		return fmt.Sprintf("s%d", v-g.hosts)
	}
}

// Names are the names of all vertices, hosts first. The slice is new.
func (g *Graph) Names() []string {
	names := make([]string, g.vertices)
	for v := range names {
		names[v] = g.Name(v)
	}
	return names
}

// NumArcs is the number of arcs.
func (g *Graph) NumArcs() int { return len(g.arcs) }

// Arcs returns all arcs, sorted by From and then To. The slice is the graph's
// own and must not be changed; an arc's index in it is its number.
func (g *Graph) Arcs() []Arc { return g.arcs }

// Out returns the arcs that leave v, sorted by To. The slice is the graph's own.
func (g *Graph) Out(v int) []Arc { return g.arcs[g.start[v]:g.start[v+1]] }

// In returns the numbers of the arcs that enter v, sorted by From. The slice is the graph's own.
func (g *Graph) In(v int) []int { return g.in[g.inStart[v]:g.inStart[v+1]] }

// ArcIndex is the number of the arc u->v, or -1 if there is none. O(log degree).
func (g *Graph) ArcIndex(u, v int) int {
	if u < 0 || u >= g.vertices {
		return -1
	}
	i, ok := slices.BinarySearchFunc(g.Out(u), v, func(a Arc, to int) int { return a.To - to })
	if !ok {
		return -1
	}
	return g.start[u] + i
}

// Weighted is a copy of the graph as one of gonum's, with latencies in s as weights, for gonum's algorithms. Vertices keep
// their numbers.
func (g *Graph) Weighted() *simple.WeightedDirectedGraph {
	w := simple.NewWeightedDirectedGraph(0, math.Inf(1))
	for v := range g.vertices {
		w.AddNode(simple.Node(v))
	}
	for _, a := range g.arcs {
		w.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(a.From), T: simple.Node(a.To), W: a.Latency})
	}
	return w
}
