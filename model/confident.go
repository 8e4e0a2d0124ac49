package model

import (
	"github.com/topocast/topocast/topology"
)

// The tree is cut to confident groups in one place, build: the hierarchy by Hierarchy.Confident, and the graph here.

// confidentGraph returns the graph without the switches of uncertain groups. The switch that linkage.Robust drew for an
// uncertain group becomes one with the switch above it. The links below it grow by the length of the link that goes, so
// that distances between hosts stay. Distances inside the uncertain group become those of the group above, as Time has
// them. Two uncertain groups that are the whole machine share their link: the links below both grow by half of it. It returns
// g itself if g is no tree, or no uncertain group has a switch of its own.
// O(vertices + arcs + total size of the groups).
func confidentGraph(g *topology.Graph, h *topology.Hierarchy) (*topology.Graph, error) {
	if !isTree(g) {
		return g, nil
	}
	ends := func(group *topology.Group) (link [2]int, ok bool) {
		from, to, ok := g.LinkAbove(group.Hosts)
		return [2]int{from, to}, ok && g.IsSwitch(from) && g.IsSwitch(to)
	}
	isConfident := make(map[[2]int]bool) // links, in either direction: the other side may be half of the machine
	isUncertain := make(map[[2]int]bool) // in one direction
	groups := h.Groups()
	for i := 1; i < len(groups); i++ {
		switch link, ok := ends(&groups[i]); {
		case ok && groups[i].Confident():
			isConfident[link], isConfident[[2]int{link[1], link[0]}] = true, true
		case ok:
			isUncertain[link] = true
		}
	}
	merged := 0
	into := make([]int, g.Vertices())     // the vertex that v has become one with
	up := make([]float64, g.Vertices())   // s: what links below v grow by, towards the root
	down := make([]float64, g.Vertices()) // s: and away from it
	for v := range into {
		into[v] = v
	}
	for i := 1; i < len(groups); i++ { // parents come before children
		link, ok := ends(&groups[i])
		v, p := link[0], link[1]
		if !ok || isConfident[link] || into[v] != v || into[p] == v { // the last: the other half has become one with v
			continue
		}
		into[v] = into[p]
		there, back := g.Arcs()[g.ArcIndex(v, p)].Latency, g.Arcs()[g.ArcIndex(p, v)].Latency
		if isUncertain[[2]int{p, v}] {
			there, back = there/2, back/2
			up[p], down[p] = back, there
			up[v], down[v] = there, back
		} else {
			up[v], down[v] = there+up[p], back+down[p]
		}
		merged++
	}
	if merged == 0 {
		return g, nil
	}
	number := make([]int, g.Vertices())
	var names []string
	for v := range number {
		if into[v] == v {
			number[v] = len(names)
			names = append(names, g.Name(v))
		}
	}
	var arcs []topology.Arc
	for _, a := range g.Arcs() {
		from, to := number[into[a.From]], number[into[a.To]]
		if from == to {
			continue
		}
		a.From, a.To, a.Latency = from, to, a.Latency+up[a.To]+down[a.From]
		arcs = append(arcs, a)
	}
	return topology.NewGraph(g.Hosts(), len(names)-g.Hosts(), names, arcs)
}

// isTree tells whether full-duplex links join all vertices of a graph as a tree.
func isTree(g *topology.Graph) bool {
	return g.NumArcs() == 2*(g.Vertices()-1) && g.IsForest()
}
