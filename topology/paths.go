package topology

import (
	"math"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/internal/paths"
)

// Paths finds the shortest paths over the arcs of a graph, any vertex forwarding. It does not
// change, so that goroutines may share it. Where all of several equally short
// routes matter, or the one that traffic takes, see Routes.
type Paths struct {
	g       *Graph
	lengths []float64 // per arc; not below 0
	forest  bool
	out     [][]paths.Arc
}

// NewPaths prepares the search over arcs of the given lengths, one per arc of g in the order of
// Arcs; nil are its latencies. The slice is kept and must not be changed. An arc whose
// length is below 0, +Inf or NaN does not exist. O(vertices + m log degree) for m arcs.
func NewPaths(g *Graph, lengths []float64) *Paths {
	if lengths == nil {
		lengths = g.Latencies()
	}
	p := &Paths{g: g, lengths: lengths, forest: g.IsForest(), out: make([][]paths.Arc, g.vertices)}
	arcs := make([]paths.Arc, 0, len(g.arcs))
	for v := range p.out {
		first := len(arcs)
		for i := g.start[v]; i < g.start[v+1]; i++ {
			if l := lengths[i]; l >= 0 && l < math.Inf(1) {
				arcs = append(arcs, paths.Arc{To: int32(g.arcs[i].To), Length: l})
			}
		}
		p.out[v] = arcs[first:]
	}
	return p
}

// From writes into dist, which has an entry per vertex, the length of the
// shortest path from src to each, +Inf where there is none. It returns the
// vertices that it reached, each after those on its path, and otherwise by
// length and then by number. In a forest there is one path, which a walk finds in
// O(m), and vertices come by the number of arcs on their path; else it is Dijkstra's
// algorithm, O(m log m).
func (p *Paths) From(src int, dist []float64) []int {
	order := make([]int, 0, len(dist))
	if !p.forest {
		return paths.From(p.out, src, dist, order)
	}
	for v := range dist {
		dist[v] = math.Inf(1)
	}
	dist[src] = 0
	order = append(order, src)
	for x := 0; x < len(order); x++ {
		v := order[x]
		for _, a := range p.out[v] {
			if math.IsInf(dist[a.To], 1) {
				dist[a.To] = dist[v] + a.Length
				order = append(order, int(a.To))
			}
		}
	}
	return order
}

// Latencies are the latencies of all arcs in s, in the order of Arcs, NaN where not known. The slice is new.
func (g *Graph) Latencies() []float64 {
	l := make([]float64, len(g.arcs))
	for i, a := range g.arcs {
		l[i] = a.Latency
	}
	return l
}

// HostDistances is the matrix of the shortest latencies in s between the hosts, from host i to j at
// i*Hosts()+j; +Inf where no path of known latencies leads. O(n m log m) for n hosts and m
// arcs, O(n m) in a forest; rows are worked out on all processors.
func (g *Graph) HostDistances() []float64 {
	n, p := g.hosts, NewPaths(g, nil)
	d := make([]float64, n*n)
	parallel.Rows(n, func(i int) {
		dist := make([]float64, g.vertices)
		p.From(i, dist)
		copy(d[i*n:(i+1)*n], dist)
	})
	return d
}
