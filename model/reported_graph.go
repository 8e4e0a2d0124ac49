package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// leastProbability is that of the uplink of a group in which there is no confidence at all: the link is shown all the same.
const leastProbability = 0.01

// ReportedGraph returns the graph with a switch for each uncertain group, too. The uplink of such a switch has the
// confidence of the group for its probability. Distances from the group to other hosts stay as they are. Inside the group
// they become the latency of the group. Graph follows confident groups only. One slow host is enough to make the
// group of its rack uncertain. Graph then puts all hosts of the rack as far apart as those of different racks. Of networks
// that are no trees it returns Graph. O(vertices + total size of the groups * depth).
func (n *Network) ReportedGraph() (*topology.Graph, error) {
	h := n.found.Hierarchy
	if !n.isTree() || !isTree(n.graph) || !slices.ContainsFunc(h.Groups(), func(x topology.Group) bool { return !x.Confident() }) {
		return n.graph, nil
	}
	r := &reporter{
		n: n, above: make([]uplink, len(h.Groups())),
		arcs: slices.Clone(n.graph.Arcs()), names: slices.Clone(n.graph.Names()),
	}
	for group := len(r.above) - 1; group > 0; group-- { // parents come before children
		g := &h.Groups()[group]
		r.above[group] = r.linkAbove(g.Hosts)
		if g.Confident() {
			continue
		}
		least := 0.0
		if r.above[group] != noUplink { // that of all other hosts, a confident group: both meet at one switch or at the ends of a link
			least = likeLatency * g.Latency / 2
		}
		if own := r.insert(group, least); own != noUplink {
			r.above[group] = own
		}
	}
	return topology.NewGraph(n.graph.Hosts(), len(r.names)-n.graph.Hosts(), r.names, r.arcs)
}

// A reporter inserts the switches of uncertain groups into the graph of a tree, those of the smallest groups first.
type reporter struct {
	n     *Network
	arcs  []topology.Arc // those of the graph, then those of the uplinks of inserted switches
	names []string       // of all vertices
	above []uplink       // per group
}

// An uplink joins a group or a host to the rest of the tree: two indices into arcs.
type uplink struct{ up, down int }

// noUplink is that of a group without a switch of its own.
var noUplink = uplink{-1, -1}

// linkAbove is the link that the graph has above some hosts.
func (r *reporter) linkAbove(hosts []int) uplink {
	g := r.n.graph
	from, to, ok := g.LinkAbove(hosts)
	if !ok {
		return noUplink
	}
	return uplink{g.ArcIndex(from, to), g.ArcIndex(to, from)}
}

// insert puts a switch between the parts of an uncertain group and the vertex on which all of them hang. It inserts none where
// they hang on several vertices, where a latency is not known, or where the link above would have less than the given length in s.
func (r *reporter) insert(group int, least float64) uplink {
	h := r.n.found.Hierarchy
	g := &h.Groups()[group]
	var parts []uplink
	var hosts, partOf []int // hosts by part, and the part of each
	add := func(part []int, above uplink) {
		hosts, partOf = append(hosts, part...), append(partOf, slices.Repeat([]int{len(parts)}, len(part))...)
		parts = append(parts, above)
	}
	for _, child := range g.Children {
		add(h.Groups()[child].Hosts, r.above[child])
	}
	for _, host := range g.Hosts {
		if h.Smallest(host) == group {
			add([]int{host}, r.linkAbove([]int{host}))
		}
	}
	if slices.Contains(parts, noUplink) {
		return noUplink
	}
	top := r.arcs[parts[0].up].To
	shortest := math.Inf(1) // s
	for _, part := range parts {
		if r.arcs[part.up].To != top {
			return noUplink
		}
		shortest = min(shortest, r.arcs[part.up].Latency, r.arcs[part.down].Latency)
	}
	depth := make([]float64, len(hosts)) // s: the mean of both directions
	for i, host := range hosts {
		up, _ := r.n.alongRoute(host, top)
		down, _ := r.n.alongRoute(top, host)
		depth[i] = (up + down) / 2
	}
	var distances []float64 // s: each host and one of another part; that half way round is, unless more than half are of one part
	for i := range hosts {
		if k := (i + len(hosts)/2) % len(hosts); partOf[i] != partOf[k] {
			distances = append(distances, depth[i]+depth[k])
		}
	}
	length := min(shortest, max(0, (stats.MiddleMedian(distances)-g.Latency)/2))
	if !(length >= least) {
		return noUplink
	}
	own := len(r.names)
	r.names = append(r.names, fmt.Sprintf("group%d", group))
	for _, part := range parts {
		r.arcs[part.up].To, r.arcs[part.down].From = own, own
		r.arcs[part.up].Latency -= length
		r.arcs[part.down].Latency -= length
	}
	r.arcs = topology.AppendLink(r.arcs, own, top, length, math.NaN())
	last := len(r.arcs) - 1
	for _, arc := range []int{last - 1, last} {
		r.arcs[arc].Probability = max(leastProbability, g.Confidence)
	}
	return uplink{last - 1, last}
}
