package model

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// cutGraph makes the graph of the given hosts.
func (n *Network) cutGraph(old []int) (*topology.Graph, error) {
	g, kept := n.graph, n.keptVertices(old)
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
	hub, typical := n.busiestSwitch(kept), n.typicalHost(kept)
	if hub < 0 { // hosts that are wired to each other
		hub = slices.Index(kept[:g.Hosts()], true)
		typical = hub
	}
	for i, r := range old {
		like := r
		switch {
		case r < 0:
			like = typical
		case at[r] == i:
			continue
		}
		if like < 0 {
			continue
		}
		for _, a := range g.Out(like) {
			up, down := g.ArcIndex(like, a.To), g.ArcIndex(a.To, like)
			to := a.To
			if r < 0 {
				to = hub
			}
			if !kept[to] || down < 0 {
				continue
			}
			put(up, i, at[to])
			put(down, at[to], i)
			if r < 0 {
				n.makeTypical(arcs[len(arcs)-2:])
				break // one link
			}
		}
	}
	return topology.NewGraph(len(old), len(names)-len(old), names, arcs)
}

// makeTypical gives the two arcs of a host that was not measured the half of what is typical of the coarsest level of a
// tree. So paths from and to the host are as long and as fast as Time has them.
func (n *Network) makeTypical(link []topology.Arc) {
	latency, perByte := (n.latencyOf(0)-n.found.Fit.Overhead)/2, n.perByte[len(n.perByte)-1]
	for i := range link {
		a := &link[i]
		if n.isTree() && latency >= 0 {
			a.Latency = latency
		}
		if n.isTree() && perByte > 0 {
			a.Bandwidth = 1 / perByte
		}
		a.Estimated = !math.IsNaN(a.Bandwidth)
	}
}

// keptVertices are the hosts in use, and the other vertices that do not hang
// loose once those are gone that lead nowhere.
func (n *Network) keptVertices(old []int) []bool {
	g := n.graph
	kept := make([]bool, g.Vertices())
	used := make([]bool, g.Vertices())
	for v := range kept {
		kept[v] = true
	}
	for _, r := range old {
		if r >= 0 {
			used[r] = true
		} else {
			if v := n.busiestSwitch(kept); v >= 0 {
				used[v] = true
			}
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

// busiestSwitch is the kept switch with the most links to other switches; ties
// go to the lowest. -1 if there is none.
func (n *Network) busiestSwitch(kept []bool) int {
	best, most := -1, -1
	for v := n.graph.Hosts(); v < n.graph.Vertices(); v++ {
		count := 0
		for _, a := range n.graph.Out(v) {
			if n.graph.IsSwitch(a.To) {
				count++
			}
		}
		if kept[v] && count > most {
			best, most = v, count
		}
	}
	return best
}

// typicalHost is the lowest host that hangs on a kept switch, or -1.
func (n *Network) typicalHost(kept []bool) int {
	for h := range n.graph.Hosts() {
		for _, a := range n.graph.Out(h) {
			if n.graph.IsSwitch(a.To) && kept[a.To] {
				return h
			}
		}
	}
	return -1
}
