package model

import (
	"math"
	"sync/atomic"

	"github.com/topocast/topocast/internal/paths"
	"github.com/topocast/topocast/topology"
)

// A pathTable knows the length and the least bandwidth of the shortest path
// between any two hosts. Hosts that hang on one switch by one link need no row
// of their own, so rows are over switches and multi-homed hosts only. A row
// is worked out when a message from it is first asked for: an application asks for
// its own rank's most of the time, and a torus of 16,384 hosts would need 2 GB for all.
type pathTable struct {
	hosts     []attachment  // per host
	out       [][]paths.Arc // arcs that leave the vertex of each row, to rows; a latency that is not known counts as 0
	bandwidth [][]float32   // of these, B/s
	rows      []atomic.Pointer[[]pathCell]
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
	t.out, t.bandwidth = make([][]paths.Arc, rows), make([][]float32, rows)
	for v, r := range row {
		if r < 0 {
			continue
		}
		for _, a := range g.Out(v) {
			if to := row[a.To]; to >= 0 {
				length := a.Latency
				if math.IsNaN(length) {
					length = 0
				}
				t.out[r] = append(t.out[r], paths.Arc{To: to, Length: length})
				t.bandwidth[r] = append(t.bandwidth[r], float32(a.Bandwidth))
			}
		}
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
	return g.IsSwitch(to) && g.ArcIndex(to, v) >= 0 && len(g.In(v)) == 1
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

// search finds the shortest paths from a row by latency, of those the ones with
// the fewest arcs, and of those the one that topology.ChooseLowest takes.
// O(arcs * log rows).
func (t *pathTable) search(source int32) []pathCell {
	n := len(t.rows)
	latency, hops := make([]float64, n), make([]int32, n)
	order := paths.From(t.out, int(source), latency, make([]int, 0, n))
	order = paths.Fewest(t.out, int(source), latency, hops, order[:0])
	cells, entered := make([]pathCell, n), make([]bool, n)
	for v := range cells {
		cells[v] = pathCell{float32(latency[v]), float32(math.Inf(1))}
	}
	for _, v := range order {
		for k, a := range t.out[v] {
			if !entered[a.To] && hops[a.To] == hops[v]+1 && paths.OnShortest(latency[v], a.Length, latency[a.To]) {
				entered[a.To] = true
				cells[a.To].bandwidth = min(cells[v].bandwidth, t.bandwidth[v][k])
			}
		}
	}
	return cells
}
