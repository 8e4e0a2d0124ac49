package draw

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

const (
	// longestChannel is how many times longer than the shortest channel the longest is drawn at most. Where latencies
	// differ by more, lengths are a power of them, or the cores of a host would be one dot beside the way to the next host.
	longestChannel = 10

	// repulsion is Bannikov and Salnikov's gamma: how strongly vertices without a channel are kept as far apart as the
	// shortest channel is long.
	repulsion = 0.5
)

// Layout returns a position for each vertex of the graph, the middle of all at the origin. The
// shortest channel is about 1 long, and so are the gaps between vertices without one.
//
// Connected parts in which hosts hang below switches without a circle are drawn as trees in the plane
// y = 0: x spreads the hosts, z is the height, and lengths say nothing. Others are
// laid out by stress: distances follow the latencies of the shortest way, directions aside. A
// latency that is not known counts as the middle one, 0 as the shortest. Parts stand side by side.
//
// The same graph gives the same positions. O(n log n) for trees of n vertices; else O(n m log n) for m arcs
// and up to 1200 vertices, and above O(200 m log n).
func Layout(g *topology.Graph) [][3]float64 { return layoutWith(g, longestChannel, repulsion) }

// layoutWith is Layout with other settings.
func layoutWith(g *topology.Graph, longest, gamma float64) [][3]float64 {
	parts := partsOf(g, longest)
	for i := range parts {
		p := &parts[i]
		if p.isTree() {
			p.hang()
		} else {
			p.relax(gamma)
		}
	}
	return standSideBySide(g.Vertices(), parts)
}

// A part is a connected part of a graph; its vertices have numbers of their own.
type part struct {
	vertices []int       // of the graph, ascending
	hosts    int         // the first so many are hosts
	next     [][]channel // per vertex, by the number of the other end
	at       [][3]float64
}

// A channel leads to a vertex; the shortest is 1 long.
type channel struct {
	to     int
	length float64
}

// partsOf is the graph in parts, by their lowest vertex, with lengths of channels between 1 and longest.
func partsOf(g *topology.Graph, longest float64) []part {
	partOf := g.Parts()
	var parts []part
	local := make([]int, g.Vertices())
	for v, k := range partOf {
		if k == len(parts) {
			parts = append(parts, part{})
		}
		p := &parts[k]
		local[v] = len(p.vertices)
		p.vertices = append(p.vertices, v)
		p.next = append(p.next, nil)
		if !g.IsSwitch(v) {
			p.hosts++
		}
	}
	channels := g.Channels()
	lengths := drawnLengths(channels, longest)
	for i, c := range channels {
		p, u, v := &parts[partOf[c.U]], local[c.U], local[c.V]
		p.next[u] = append(p.next[u], channel{v, lengths[i]})
		p.next[v] = append(p.next[v], channel{u, lengths[i]})
	}
	for k := range parts {
		for _, cs := range parts[k].next {
			slices.SortFunc(cs, func(a, b channel) int { return a.to - b.to })
		}
	}
	return parts
}

// drawnLengths are the channels' lengths from 1 to longest.
func drawnLengths(channels []topology.Channel, longest float64) []float64 {
	known := make([]float64, 0, len(channels))
	most := 1.0
	for _, c := range channels {
		if !math.IsNaN(c.Length) {
			l := max(1, c.Length)
			known = append(known, l)
			most = max(most, l)
		}
	}
	middle := 1.0
	if len(known) > 0 {
		middle = stats.LowerMedian(known)
	}
	power := 1.0
	if most > longest {
		power = math.Log(longest) / math.Log(most)
	}
	lengths := make([]float64, len(channels))
	for i, c := range channels {
		l := max(1, c.Length)
		if math.IsNaN(c.Length) {
			l = middle
		}
		lengths[i] = math.Pow(l, power)
	}
	return lengths
}

// standSideBySide centres the parts and puts them in rows, the widest first.
func standSideBySide(vertices int, parts []part) [][3]float64 {
	const gap = 2.0
	type box struct{ low, size [3]float64 }
	boxes := make([]box, len(parts))
	order := make([]int, len(parts))
	area, widest := 0.0, 0.0
	for k, p := range parts {
		b := box{low: p.at[0]}
		high := p.at[0]
		for _, x := range p.at {
			for axis := range 3 {
				b.low[axis], high[axis] = min(b.low[axis], x[axis]), max(high[axis], x[axis])
			}
		}
		for axis := range 3 {
			b.size[axis] = high[axis] - b.low[axis]
		}
		boxes[k], order[k] = b, k
		area += (b.size[0] + gap) * (b.size[1] + gap)
		widest = max(widest, b.size[0]+gap)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(boxes[b].size[1], boxes[a].size[1]) })

	at := make([][3]float64, vertices)
	width := max(widest, 1.2*math.Sqrt(area)) // rows are seldom full
	var x, y, row, right float64
	for _, k := range order {
		p, b := &parts[k], &boxes[k]
		if x > 0 && x+b.size[0] > width {
			x, y, row = 0, y+row+gap, 0
		}
		row = max(row, b.size[1])
		for i, v := range p.vertices {
			at[v] = [3]float64{x + p.at[i][0] - b.low[0], y + p.at[i][1] - b.low[1], p.at[i][2] - b.low[2] - b.size[2]/2}
		}
		x += b.size[0] + gap
		right = max(right, x-gap)
	}
	for v := range at {
		at[v][0] -= right / 2
		at[v][1] -= (y + row) / 2
	}
	return at
}
