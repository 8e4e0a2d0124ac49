package model

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// cutGraph makes the graph of the given hosts.
func (n *Network) cutGraph(old []int) (*topology.Graph, error) {
	g := n.graph
	hub := place{-1, -1}
	if slices.Contains(old, -1) && g.NumArcs() > 0 {
		hub = n.middle(old)
	}
	kept := n.keptVertices(old, hub)
	at := make([]int, g.Vertices()) // the number of each kept vertex in the new graph; of hosts that of the first rank that is it
	for v := range at {
		at[v] = -1
	}
	names := make([]string, len(old))
	for i, r := range old {
		if r >= 0 {
			names[i] = g.Name(r)
			if at[r] < 0 {
				at[r] = i
			}
		}
	}
	for v := range at {
		if kept[v] && at[v] < 0 {
			at[v] = len(names)
			names = append(names, g.Name(v))
		}
	}
	var arcs []topology.Arc
	put := func(arc, from, to int) {
		a := g.Arcs()[arc]
		a.From, a.To = from, to
		arcs = append(arcs, a)
	}
	for i, a := range g.Arcs() {
		if kept[a.From] && kept[a.To] {
			put(i, at[a.From], at[a.To])
		}
	}
	top := -1
	switch {
	case hub.other >= 0:
		top = len(names)
		names = append(names, "middle")
		arcs = splitLink(arcs, at[hub.vertex], at[hub.other], top)
	case hub.vertex >= 0:
		top = at[hub.vertex]
	}
	for i, r := range old {
		switch {
		case r < 0 && top >= 0:
			arcs = append(arcs, n.typicalLink(i, top)...)
		case r >= 0 && at[r] != i: // a further rank of a host
			for _, a := range g.Out(r) {
				if down := g.ArcIndex(a.To, r); kept[a.To] && down >= 0 {
					put(g.ArcIndex(r, a.To), i, at[a.To])
					put(down, at[a.To], i)
				}
			}
		}
	}
	return topology.NewGraph(len(old), len(names)-len(old), names, arcs)
}

// typicalLink is the link of a host that was not measured. It has half of the latency that is typical of the coarsest
// level, and the bandwidth of that level. So paths from and to the host are as long and as fast as Time has them. What is
// not known of the level is as on the first link of a host.
func (n *Network) typicalLink(host, hub int) []topology.Arc {
	a := n.graph.Arcs()[0]
	if half := (n.latencyOf(0) - n.found.Fit.Overhead) / 2; half >= 0 {
		a.Latency = half
	}
	if perByte := n.perByte[len(n.perByte)-1]; perByte > 0 {
		a.Bandwidth = 1 / perByte
	}
	link := topology.AppendLink(nil, host, hub, a.Latency, a.Bandwidth)
	for i := range link {
		link[i].Estimated = !math.IsNaN(a.Bandwidth)
	}
	return link
}

// splitLink puts a vertex into the middle of the link between u and v.
func splitLink(arcs []topology.Arc, u, v, middle int) []topology.Arc {
	for i, a := range arcs {
		if min(a.From, a.To) == min(u, v) && max(a.From, a.To) == max(u, v) {
			a.Latency /= 2
			arcs[i], a.From = a, middle
			arcs[i].To = middle
			arcs = append(arcs, a)
		}
	}
	return arcs
}

// keptVertices are the hosts in use, the place of hosts that were not measured, and the other vertices that do not hang
// loose once those are gone that lead nowhere.
func (n *Network) keptVertices(old []int, hub place) []bool {
	g := n.graph
	kept := slices.Repeat([]bool{true}, g.Vertices())
	used := make([]bool, g.Vertices())
	for _, v := range append([]int{hub.vertex, hub.other}, old...) {
		if v >= 0 {
			used[v] = true
		}
	}
	neighbours := func(v int) int {
		count := 0
		for _, a := range g.Out(v) {
			if kept[a.To] {
				count++
			}
		}
		return count
	}
	var loose []int
	for v := range kept {
		loose = append(loose, v)
	}
	for len(loose) > 0 {
		v := loose[len(loose)-1]
		loose = loose[:len(loose)-1]
		if !kept[v] || used[v] || neighbours(v) > 1 {
			continue
		}
		kept[v] = false
		for _, a := range g.Out(v) {
			loose = append(loose, a.To)
		}
	}
	return kept
}

// A place is a vertex or, if other is not -1, the middle of the link between two.
type place struct{ vertex, other int }

// middle is where hosts hang that were not measured, so that all others are about equally far. On a tree it is where the most
// hosts leave the largest groups. Two groups that are the whole machine meet in the middle of a link. Elsewhere it is the
// busiest switch, or the first host in use where hosts are wired to each other.
func (n *Network) middle(old []int) place {
	root := &n.hierarchy.Groups()[0]
	parts := make([][]int, 0, len(root.Children))
	for _, child := range root.Children {
		parts = append(parts, n.hierarchy.Groups()[child].Hosts)
	}
	for _, rank := range root.Hosts {
		if n.leaf[rank] == 0 {
			parts = append(parts, []int{rank})
		}
	}
	leave, leaveBy := make([]int, n.graph.Vertices()), make(map[place]bool)
	best := -1
	for _, part := range parts {
		if from, to, ok := n.graph.LinkAbove(part); ok && n.graph.IsSwitch(to) {
			leaveBy[place{from, to}] = true
			if leave[to] += len(part); best < 0 || leave[to] > leave[best] {
				best = to
			}
		}
	}
	if best < 0 {
		best = n.busiestSwitch()
	}
	for rank := range n.graph.Hosts() {
		if best < 0 && slices.Contains(old, rank) {
			best = rank
		}
	}
	if best < 0 {
		return place{-1, -1}
	}
	for _, a := range n.graph.Out(best) {
		if leaveBy[place{best, a.To}] && leaveBy[place{a.To, best}] {
			return place{best, a.To}
		}
	}
	return place{best, -1}
}

// busiestSwitch is the switch with the most links to other switches; ties
// go to the lowest. -1 if there is none.
func (n *Network) busiestSwitch() int {
	best, most := -1, -1
	for v := n.graph.Hosts(); v < n.graph.Vertices(); v++ {
		count := 0
		for _, a := range n.graph.Out(v) {
			if n.graph.IsSwitch(a.To) {
				count++
			}
		}
		if count > most {
			best, most = v, count
		}
	}
	return best
}
