package model

import "github.com/topocast/topocast/topology"

// treeOrder lists the vertices of a tree of full-duplex links, parents before children, from the first switch on, or from the
// last host where there is none; nil if g is none. The root's parent is -1.
func treeOrder(g *topology.Graph) (order, parent []int) {
	if g.Vertices() == 0 || g.NumArcs() != 2*(g.Vertices()-1) {
		return nil, nil
	}
	parent = make([]int, g.Vertices())
	for v := range parent {
		parent[v] = -1
	}
	order = append(order, min(g.Hosts(), g.Vertices()-1))
	for i := 0; i < len(order); i++ {
		v := order[i]
		for _, a := range g.Out(v) {
			switch {
			case g.ArcIndex(a.To, v) < 0:
				return nil, nil
			case a.To == parent[v]:
			case parent[a.To] >= 0 || a.To == order[0]:
				return nil, nil // a cycle
			default:
				parent[a.To] = v
				order = append(order, a.To)
			}
		}
	}
	if len(order) != g.Vertices() {
		return nil, nil
	}
	return order, parent
}
