package model

import (
	"math/rand/v2"

	"github.com/topocast/topocast/topology"
)

// hostsBelow are the hosts at and below each vertex of a tree.
func hostsBelow(g *topology.Graph, order, parent []int) []hostSet {
	below := make([]hostSet, g.Vertices())
	for i := len(order) - 1; i >= 0; i-- {
		v := order[i]
		if !g.IsSwitch(v) {
			below[v].add(hostSetOf(v))
		}
		if p := parent[v]; p >= 0 {
			below[p].add(below[v])
		}
	}
	return below
}

// top is the first switch, or the last host where there is none.
func top(g *topology.Graph) int { return min(g.Hosts(), g.Vertices()-1) }

// treeOrder lists the vertices of a tree of full-duplex links, parents before
// children, from the given vertex on; nil if g is none. The root's parent is -1.
func treeOrder(g *topology.Graph, root int) (order, parent []int) {
	if g.Vertices() == 0 || g.NumArcs() != 2*(g.Vertices()-1) {
		return nil, nil
	}
	parent = make([]int, g.Vertices())
	for v := range parent {
		parent[v] = -1
	}
	order = append(order, root)
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

// A hostSet stands for a set of hosts: their number and a sum of random words,
// one per host, the same for the same set.
type hostSet struct {
	hosts int
	sum   uint64
}

func hostSetOf(hosts ...int) (s hostSet) {
	for _, host := range hosts {
		s.add(hostSet{1, rand.NewPCG(uint64(host), 1).Uint64()})
	}
	return s
}

func (s *hostSet) add(o hostSet)            { s.hosts, s.sum = s.hosts+o.hosts, s.sum+o.sum }
func (s hostSet) without(o hostSet) hostSet { return hostSet{s.hosts - o.hosts, s.sum - o.sum} }
