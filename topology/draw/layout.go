package draw

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/paths"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

const (
	// longestChannel is how many times longer than the shortest channel the longest is drawn at most. Where latencies
	// differ by more, lengths are a power of them: else the cores of a host would be one dot beside the link to the next host.
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
// The same graph gives the same positions. O(n log n) for trees of n vertices; else O(p m log n) for m arcs, where p is the
// lesser of n and 200.
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
	vertices []int         // of the graph, ascending
	hosts    int           // the first so many are hosts
	next     [][]paths.Arc // channels of each vertex, by the number of the other end; the shortest is 1 long
	at       [][3]float64
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
		p.next[u] = append(p.next[u], paths.Arc{To: int32(v), Length: lengths[i]})
		p.next[v] = append(p.next[v], paths.Arc{To: int32(u), Length: lengths[i]})
	}
	for k := range parts {
		for _, cs := range parts[k].next {
			slices.SortFunc(cs, func(a, b paths.Arc) int { return int(a.To - b.To) })
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

// standSideBySide puts the parts in rows of equally many, the middle of all at the origin.
func standSideBySide(vertices int, parts []part) [][3]float64 {
	const gap = 2.0
	at := make([][3]float64, vertices)
	columns := int(math.Ceil(math.Sqrt(float64(len(parts)))))
	var x, y, row float64
	for k, p := range parts {
		if k%columns == 0 {
			x, y, row = 0, y+row+gap, 0
		}
		low, high := extent(p.at)
		for i, v := range p.vertices {
			at[v] = [3]float64{x + p.at[i][0] - low[0], y + p.at[i][1] - low[1], p.at[i][2] - (low[2]+high[2])/2}
		}
		x += high[0] - low[0] + gap
		row = max(row, high[1]-low[1])
	}
	low, high := extent(at)
	for v := range at {
		for axis := range 3 {
			at[v][axis] -= (low[axis] + high[axis]) / 2
		}
	}
	return at
}

// extent is the least and the greatest coordinate on each axis.
func extent(at [][3]float64) (low, high [3]float64) {
	for axis := range 3 {
		s := emptySpan()
		for _, x := range at {
			s.add(x[axis])
		}
		low[axis], high[axis] = s.low, s.high
	}
	return low, high
}
