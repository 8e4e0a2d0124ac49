package draw

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

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
// Connected parts that are wired in tiers above their hosts, as trees and fat trees are, are drawn so in the plane
// y = 0: x spreads the hosts, z is the height, and lengths say nothing. Others are
// laid out by stress: distances follow the latencies of the shortest way, directions aside. A
// latency that is not known counts as the middle one, 0 as the shortest. Parts stand side by side.
//
// The same graph gives the same positions. O(t m) for m arcs in t tiers; else O(p m log n) for n vertices, where p is the
// lesser of n and 200.
func Layout(g *topology.Graph) []r3.Vec { return layoutWith(g, longestChannel, repulsion) }

// layoutWith is Layout with other settings.
func layoutWith(g *topology.Graph, longest, gamma float64) []r3.Vec {
	parts := partsOf(g, longest)
	for i := range parts {
		p := &parts[i]
		if tier := p.tiers(); tier != nil {
			p.hang(tier)
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
	at       []r3.Vec
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
	channels := g.Channels() // sorted, and so are the channels of each vertex
	lengths := drawnLengths(channels, longest)
	for i, c := range channels {
		p, u, v := &parts[partOf[c.U]], local[c.U], local[c.V]
		p.next[u] = append(p.next[u], paths.Arc{To: int32(v), Length: lengths[i]})
		p.next[v] = append(p.next[v], paths.Arc{To: int32(u), Length: lengths[i]})
	}
	return parts
}

// drawnLengths are the channels' lengths from 1 to longest.
func drawnLengths(channels []topology.Channel, longest float64) []float64 {
	lengths := make([]float64, len(channels))
	for i, c := range channels {
		lengths[i] = max(1, c.Length)
	}
	middle, power := 1.0, 1.0
	if known := stats.SortedFinite(lengths); len(known) > 0 {
		middle = known[(len(known)-1)/2]
		power = min(1, math.Log(longest)/math.Log(known[len(known)-1]))
	}
	for i, l := range lengths {
		if math.IsNaN(l) {
			l = middle
		}
		lengths[i] = math.Pow(l, power)
	}
	return lengths
}

// standSideBySide puts the parts in rows of equally many, the middle of all at the origin.
func standSideBySide(vertices int, parts []part) []r3.Vec {
	const gap = 2.0
	at := make([]r3.Vec, vertices)
	columns := int(math.Ceil(math.Sqrt(float64(len(parts)))))
	var x, y, row float64
	for k, p := range parts {
		if k%columns == 0 {
			x, y, row = 0, y+row+gap, 0
		}
		box := extent(p.at)
		to := r3.Vec{X: x - box.Min.X, Y: y - box.Min.Y, Z: -box.Center().Z}
		for i, v := range p.vertices {
			at[v] = r3.Add(p.at[i], to)
		}
		x += box.Size().X + gap
		row = max(row, box.Size().Y)
	}
	middle := extent(at).Center()
	for v := range at {
		at[v] = r3.Sub(at[v], middle)
	}
	return at
}

// extent is the box around the positions.
func extent(at []r3.Vec) r3.Box {
	x, y, z := emptySpan(), emptySpan(), emptySpan()
	for _, v := range at {
		x.add(v.X)
		y.add(v.Y)
		z.add(v.Z)
	}
	return r3.Box{Min: r3.Vec{X: x.low, Y: y.low, Z: z.low}, Max: r3.Vec{X: x.high, Y: y.high, Z: z.high}}
}

// isFlat tells whether all positions are in the plane y = 0, which is looked at from the front.
func isFlat(at []r3.Vec) bool {
	return !slices.ContainsFunc(at, func(x r3.Vec) bool { return x.Y != 0 })
}
