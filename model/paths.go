package model

import (
	"math"
	"sync/atomic"

	"github.com/topocast/topocast/topology"
)

// A pathTable knows the length and the least bandwidth of the shortest path
// between any two hosts. Hosts that hang on one switch by one link need no row
// of their own, so rows are over switches and multi-homed hosts only. A row
// is worked out when a message from it is first asked for: an application asks for
// its own rank's most of the time, and a torus of 16,384 hosts would need 2 GB for all.
type pathTable struct {
	hosts []attachment // per host
	start []int32      // arcs[start[r]:start[r+1]] leave the vertex of row r
	arcs  []rowArc
	rows  []atomic.Pointer[[]pathCell]
}

// attachment ties a host to a row of the table by its one link; a host
// with a row of its own has a link of length 0 and no limit.
type attachment struct {
	row      int32
	up, down pathCell // to the row's vertex, and from it
}

type pathCell struct {
	latency   float32 // s; +Inf where no path leads
	bandwidth float32 // B/s; the least on the path, +Inf on an empty one, NaN if any is not known
}

// rowArc is an arc between vertices with rows.
type rowArc struct {
	to                 int32
	latency, bandwidth float64
}

// newPathTable is O(vertices + arcs).
func newPathTable(g *topology.Graph) *pathTable {
	inf := float32(math.Inf(1))
	t := &pathTable{hosts: make([]attachment, g.Hosts())}
	row := make([]int32, g.Vertices())
	rows := int32(0)
	for v := range row {
		row[v] = -1
		if !singleHomed(g, v) {
			row[v] = rows
			rows++
		}
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
	t.start = make([]int32, 1, rows+1)
	for v := range row {
		if row[v] < 0 {
			continue
		}
		for _, a := range g.Out(v) {
			if to := row[a.To]; to >= 0 {
				t.arcs = append(t.arcs, rowArc{to, a.Latency, a.Bandwidth})
			}
		}
		t.start = append(t.start, int32(len(t.arcs)))
	}
	t.rows = make([]atomic.Pointer[[]pathCell], rows)
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
	row := t.rows[a.row].Load()
	if row == nil {
		cells := t.search(a.row)
		row = &cells
		t.rows[a.row].Store(row) // another goroutine's row would be the same
	}
	c := (*row)[b.row]
	return float64(a.up.latency) + float64(c.latency) + float64(b.down.latency),
		float64(min(a.up.bandwidth, c.bandwidth, b.down.bandwidth))
}

// search is Dijkstra's algorithm by latency and then by number of arcs; an arc
// without a latency counts as 0. Ties go to the lowest predecessor.
// O(arcs * log rows).
func (t *pathTable) search(source int32) []pathCell {
	n := len(t.rows)
	at := make([]pathItem, n) // the best known
	bandwidth := make([]float64, n)
	done := make([]bool, n)
	for v := range at {
		at[v], bandwidth[v] = pathItem{math.Inf(1), math.MaxInt32, int32(v)}, math.Inf(1)
	}
	at[source] = pathItem{0, 0, source}
	queue := pathQueue{at[source]}
	for len(queue) > 0 {
		v := queue.pop().row
		if done[v] {
			continue
		}
		done[v] = true
		for _, a := range t.arcs[t.start[v]:t.start[v+1]] {
			length := a.latency
			if math.IsNaN(length) {
				length = 0
			}
			next := pathItem{at[v].latency + length, at[v].hops + 1, a.to}
			if !done[a.to] && next.before(at[a.to]) {
				at[a.to] = next
				bandwidth[a.to] = math.Min(bandwidth[v], a.bandwidth)
				queue.push(next)
			}
		}
	}
	cells := make([]pathCell, n)
	for v := range cells {
		cells[v] = pathCell{float32(at[v].latency), float32(bandwidth[v])}
	}
	return cells
}

type pathItem struct {
	latency float64
	hops    int32
	row     int32
}

func (a pathItem) before(b pathItem) bool {
	if a.latency != b.latency {
		return a.latency < b.latency
	}
	if a.hops != b.hops {
		return a.hops < b.hops
	}
	return a.row < b.row
}

// pathQueue is a binary heap.
type pathQueue []pathItem

func (q *pathQueue) push(x pathItem) {
	h := append(*q, x)
	*q = h
	i := len(h) - 1
	for ; i > 0 && x.before(h[(i-1)/2]); i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = x
}

func (q *pathQueue) pop() pathItem {
	h := *q
	top, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(x) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = x
	}
	return top
}
