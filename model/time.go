package model

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// needsPaths tells whether the graph knows what the levels do not: latencies
// where the machine is no tree, or bandwidths.
func (n *Network) needsPaths() bool {
	if !n.isTree() {
		return n.graph.NumArcs() > 0
	}
	known := func(a topology.Arc) bool { return !math.IsNaN(a.Bandwidth) }
	unknown := func(l LevelParams) bool { return len(l.Sizes) < 2 }
	return slices.ContainsFunc(n.s.Levels, unknown) && slices.ContainsFunc(n.graph.Arcs(), known)
}

// Time is the time in s that one message of the given size in bytes takes
// from rank src to rank dst when nothing else is under way: 0 for src = dst,
// NaN where it is not known (see PLogP), for ranks outside the network and for
// sizes below 0. It is the time of the level that joins the two ranks. Where the latency or the slowest link of their
// route on a tree is not like that of a typical pair, the difference is added: a slow host is slow to all.
//
// It allocates nothing but for the first message from a switch or host of a machine that is no tree, and the first to
// one where its routes are spread. O(levels + log(sizes)), and O(length of the route) on such machines and on trees
// with unequal links.
func (n *Network) Time(src, dst int, bytes int64) float64 {
	if uint(src) >= uint(len(n.leaf)) || uint(dst) >= uint(len(n.leaf)) || bytes < 0 {
		return math.NaN()
	}
	if src == dst {
		return 0
	}
	group := n.join(src, dst)
	g := &n.groups[group]
	p := &n.s.Levels[g.level]
	if n.paths == nil {
		t := g.offset + p.Time(bytes)
		if n.tree != nil {
			t = n.alongPath(t, src, dst, bytes, group)
		}
		return t
	}
	latency, bandwidth := n.paths.between(src, dst)
	if n.s.Routing != topology.ChooseLowest && bytes > n.s.Measured.Bytes {
		_, bandwidth = n.alongRoute(src, dst) // no row has it: spread routes follow from the destination
	}
	latency += n.found.Fit.Overhead
	if n.isTree() {
		typical := n.latencyOf(group)
		if n.tree == nil || !apart(latency, typical, likeLatency) || !n.tellsLatency(src, dst, group) {
			latency = typical
		}
	}
	if len(p.Sizes) > 1 {
		t := math.Max(0, latency-p.GapAt(n.s.Measured.Bytes)) + p.GapAt(bytes)
		if wait := p.handshakeAt(bytes, n.perByte[g.level]); wait > 0 {
			t += wait * (n.RouteShare(src, dst) - 1)
		}
		return n.overLinks(t, 1/bandwidth, n.perByte[g.level], bytes, !n.isTree())
	}
	if bytes <= n.s.Measured.Bytes {
		return latency
	}
	return latency + float64(bytes-n.s.Measured.Bytes)/bandwidth
}

// alongRoute is the latency in s and the least bandwidth in B/s of the route from one vertex to another, NaN where that
// of a link is not known; +Inf and +Inf if there is no route. O(length of the route).
func (n *Network) alongRoute(src, dst int) (latency, bandwidth float64) {
	var arcs [32]int32 // longer routes are on the heap
	route, err := n.routes.AppendRoute(arcs[:0], src, dst)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	return n.along(route)
}

// along is the latency in s and the least bandwidth in B/s of a route.
func (n *Network) along(route []int32) (latency, bandwidth float64) {
	bandwidth = math.Inf(1)
	for _, arc := range route {
		a := &n.graph.Arcs()[arc]
		latency, bandwidth = latency+a.Latency, min(bandwidth, a.Bandwidth)
	}
	return latency, bandwidth
}

// flatGroup is a group of the hierarchy as Time needs it.
type flatGroup struct {
	parent int32
	level  int32
	offset float64 // s: what pairs of this group need beyond the level's typical time
}

// flatten copies what Time needs of the hierarchy.
func (n *Network) flatten() {
	h := n.hierarchy
	n.leaf = make([]int32, h.Hosts())
	for i := range n.leaf {
		n.leaf[i] = int32(h.Smallest(i))
	}
	n.groups = make([]flatGroup, len(h.Groups()))
	for i, g := range h.Groups() {
		// Both are times of messages of the measuring size.
		offset := g.Latency - n.s.Levels[g.Level].Time(n.s.Measured.Bytes)
		if math.IsNaN(offset) {
			offset = 0
		}
		n.groups[i] = flatGroup{parent: int32(g.Parent), level: int32(g.Level), offset: offset}
	}
}

// join is the smallest group that holds both ranks.
func (n *Network) join(a, b int) int32 {
	x, y := n.leaf[a], n.leaf[b]
	for x != y {
		// Parents come before children: the later one is not an ancestor.
		if x > y {
			x = n.groups[x].parent
		} else {
			y = n.groups[y].parent
		}
	}
	return x
}

// LevelOf is the index into Levels of the level that joins two ranks.
func (n *Network) LevelOf(a, b int) int { return int(n.groups[n.join(a, b)].level) }

// latencyOf is the typical time of a message of the measuring size in a group.
func (n *Network) latencyOf(group int32) float64 {
	g := &n.groups[group]
	return g.offset + n.s.Levels[g.level].Time(n.s.Measured.Bytes)
}

// isTree tells whether the levels say what latencies are; else the graph does.
func (n *Network) isTree() bool {
	return n.found.Fit.Family == topology.FamilyTree || n.found.Fit.Family == topology.FamilyFlat
}
