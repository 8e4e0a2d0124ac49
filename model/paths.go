package model

import (
	"container/heap"
	"math"

	"github.com/topocast/topocast/topology"
)

// maxCore bounds the table of shortest paths: 2,048 vertices make 32 MB.
const maxCore = 2048

// A pathTable knows the length and the least bandwidth of the shortest path
// between any two hosts. Hosts that hang on one switch by one link need no row
// of their own, so the table is over switches and multi-homed hosts only.
type pathTable struct {
	core  int          // number of vertices with a row
	hosts []attachment // per host
	cells []pathCell   // core x core
}

// attachment ties a host to a row of the table by its one link; a host
// with a row of its own has a link of length 0 and no limit.
type attachment struct {
	row      int32
	up, down pathCell // to the table's vertex, and from it
}

type pathCell struct {
	latency   float32 // s
	bandwidth float32 // B/s; the least on the path, +Inf on an empty one, NaN if any is not known
}

// newPathTable runs Dijkstra's algorithm from every vertex that needs a row;
// nil if there are more than maxCore of them. O(core * arcs * log vertices).
func newPathTable(g *topology.Graph) *pathTable {
	inf := float32(math.Inf(1))
	t := &pathTable{hosts: make([]attachment, g.Hosts())}
	row := make([]int32, g.Vertices())
	var vertices []int
	for v := range row {
		row[v] = -1
		if !singleHomed(g, v) {
			row[v] = int32(len(vertices))
			vertices = append(vertices, v)
		}
	}
	t.core = len(vertices)
	if t.core > maxCore {
		return nil
	}
	for h := range t.hosts {
		if row[h] >= 0 {
			t.hosts[h] = attachment{row: row[h], up: pathCell{0, inf}, down: pathCell{0, inf}}
			continue
		}
		up := g.Out(h)[0]
		down := g.Arcs()[g.ArcIndex(up.To, h)]
		t.hosts[h] = attachment{
			row:  row[up.To],
			up:   pathCell{float32(up.Latency), float32(up.Bandwidth)},
			down: pathCell{float32(down.Latency), float32(down.Bandwidth)},
		}
	}
	t.cells = make([]pathCell, t.core*t.core)
	search := newPathSearch(g)
	for i, v := range vertices {
		search.from(v)
		for j, w := range vertices {
			t.cells[i*t.core+j] = pathCell{float32(search.latency[w]), float32(search.bandwidth[w])}
		}
	}
	return t
}

// singleHomed tells whether v is a host on one switch by one full-duplex link.
func singleHomed(g *topology.Graph, v int) bool {
	if g.IsSwitch(v) || len(g.Out(v)) != 1 {
		return false
	}
	to := g.Out(v)[0].To
	return g.IsSwitch(to) && g.ArcIndex(to, v) >= 0 && g.To(int64(v)).Len() == 1
}

// between returns the latency in s and the least bandwidth in B/s of the path
// from one host to another; +Inf and +Inf if there is none.
func (t *pathTable) between(src, dst int) (latency, bandwidth float64) {
	a, b := &t.hosts[src], &t.hosts[dst]
	c := t.cells[int(a.row)*t.core+int(b.row)]
	return float64(a.up.latency) + float64(c.latency) + float64(b.down.latency),
		float64(min(a.up.bandwidth, c.bandwidth, b.down.bandwidth))
}

// pathSearch is Dijkstra's algorithm over the arcs of a graph, by latency and
// then by number of arcs; an arc without a latency counts as 0. Ties go to the
// lowest predecessor.
type pathSearch struct {
	g         *topology.Graph
	latency   []float64 // +Inf where no path leads
	hops      []int
	bandwidth []float64
	done      []bool
	queue     pathQueue
}

func newPathSearch(g *topology.Graph) *pathSearch {
	n := g.Vertices()
	return &pathSearch{g: g, latency: make([]float64, n), hops: make([]int, n), bandwidth: make([]float64, n), done: make([]bool, n)}
}

func (s *pathSearch) from(source int) {
	for v := range s.latency {
		s.latency[v], s.bandwidth[v], s.hops[v], s.done[v] = math.Inf(1), math.Inf(1), math.MaxInt, false
	}
	s.latency[source], s.hops[source] = 0, 0
	s.queue = append(s.queue[:0], pathItem{vertex: source})
	for len(s.queue) > 0 {
		v := heap.Pop(&s.queue).(pathItem).vertex
		if s.done[v] {
			continue
		}
		s.done[v] = true
		if v != source && v < s.g.Hosts() && len(s.g.Out(v)) == 1 {
			continue // hosts with one link forward nothing
		}
		for _, a := range s.g.Out(v) {
			length := a.Latency
			if math.IsNaN(length) {
				length = 0
			}
			d, hops := s.latency[v]+length, s.hops[v]+1
			if d < s.latency[a.To] || d == s.latency[a.To] && hops < s.hops[a.To] {
				s.latency[a.To], s.hops[a.To] = d, hops
				s.bandwidth[a.To] = math.Min(s.bandwidth[v], a.Bandwidth)
				heap.Push(&s.queue, pathItem{d, hops, a.To})
			}
		}
	}
}

type pathItem struct {
	latency float64
	hops    int
	vertex  int
}

type pathQueue []pathItem

func (q pathQueue) Len() int { return len(q) }
func (q pathQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	if a.latency != b.latency {
		return a.latency < b.latency
	}
	if a.hops != b.hops {
		return a.hops < b.hops
	}
	return a.vertex < b.vertex
}
func (q pathQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *pathQueue) Push(x any)   { *q = append(*q, x.(pathItem)) }
func (q *pathQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
