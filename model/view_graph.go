package model

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// cutGraph makes the graph of the given hosts.
func (n *Network) cutGraph(old []int) (*topology.Graph, error) {
	g := n.graph
	hub := n.busiestSwitch()
	for r := range g.Hosts() { // hosts that are wired to each other
		if hub < 0 && slices.Contains(old, r) {
			hub = r
		}
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
	for i, r := range old {
		switch {
		case r < 0 && hub >= 0 && g.NumArcs() > 0:
			arcs = append(arcs, n.typicalLink(i, at[hub])...)
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

// keptVertices are the hosts in use, the hub if a host was not measured, and the other vertices that do not hang
// loose once those are gone that lead nowhere.
func (n *Network) keptVertices(old []int, hub int) []bool {
	g := n.graph
	kept := slices.Repeat([]bool{true}, g.Vertices())
	used := make([]bool, g.Vertices())
	for _, r := range old {
		switch {
		case r >= 0:
			used[r] = true
		case hub >= 0:
			used[hub] = true
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
