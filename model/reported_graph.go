package model

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// ReportedGraph returns the graph with a switch for each uncertain group, too. The uplink of such a switch has the
// confidence of the group for its probability. Graph follows confident groups only. One slow host is enough to make the
// group of its rack uncertain. Graph then puts all hosts of the rack as far apart as those of different racks. Of networks
// that are no trees it returns Graph. O(arcs + total size of the groups).
//
// Distances are those of Graph, but for hosts that an uncertain group joins. These are nearer by what the latency of the
// group is below that of the group above.
func (n *Network) ReportedGraph() (*topology.Graph, error) {
	g, h, family := n.graph, n.found.Hierarchy, n.found.Fit.Family
	groups := h.Groups()
	weak := slices.ContainsFunc(groups, func(x topology.Group) bool { return !x.Firm() })
	if !weak || family != topology.FamilyTree && family != topology.FamilyFlat || math.IsNaN(groups[0].Latency) {
		return g, nil
	}
	tree, err := h.Graph()
	if err != nil {
		return nil, err
	}
	// Where Graph has no switch of a group, the links below reach further up than those of the tree, by so much in s.
	further, has := make([]float64, len(groups)), make([]bool, len(groups))
	for i := 1; i < len(groups); i++ { // parents come before children
		above := groups[i].Parent
		if has[i] = n.hasSwitch(i); has[i] {
			continue
		}
		further[i] = further[above]
		if more := groups[above].Latency - groups[i].Latency; more > 0 { // false where one is not known
			further[i] += more / 2
		}
	}
	owner := make(map[[2]int]int) // of two groups that are all hosts and share a link the one to which its latency goes
	arcs := slices.Clone(tree.Arcs())
	for i := range arcs {
		a := &arcs[i]
		lower, upper := min(a.From, a.To), max(a.From, a.To)
		group, isOwn := topology.Group{Support: 1, Hosts: []int{lower}}, true
		if tree.IsSwitch(lower) {
			lower, upper = upper, lower
			group, isOwn = groups[lower-tree.Hosts()], has[lower-tree.Hosts()]
		}
		if from, to, ok := g.LinkAbove(group.Hosts); ok {
			link := [2]int{min(from, to), max(from, to)}
			if _, taken := owner[link]; !taken && isOwn {
				owner[link] = lower
			}
			if a.To == lower {
				from, to = to, from
			}
			arc := g.Arcs()[g.ArcIndex(from, to)]
			a.Bandwidth, a.Estimated = arc.Bandwidth, arc.Estimated
			switch {
			case isOwn && owner[link] == lower:
				a.Latency = math.Max(0, arc.Latency-further[upper-tree.Hosts()])
			case isOwn:
				a.Latency = 0
			}
		}
		if !group.Firm() {
			a.Probability = math.Max(group.Support, 0.01)
		}
	}
	if tree, err = tree.WithArcs(arcs); err != nil {
		return nil, err
	}
	return tree.WithHostNames(g.Names()[:g.Hosts()])
}

// hasSwitch tells whether a reported group has a switch of its own in the graph of a tree. An uncertain group may have
// one where all other hosts are a confident group, which shares the link. Then its hosts are nearer to each other than the
// group above is wide.
func (n *Network) hasSwitch(group int) bool {
	h := n.found.Hierarchy
	x := &h.Groups()[group]
	if _, _, ok := n.graph.LinkAbove(x.Hosts); !ok || x.Firm() {
		return ok
	}
	least, above, ends := math.Inf(1), h.Groups()[x.Parent].Latency, n.found.Fit.Overhead
	for k, b := range x.Hosts[1:] {
		if a := x.Hosts[k]; h.Common(a, b) == group {
			route, _ := n.routes.AppendRoute(nil, a, b) // in a tree there is one
			least = min(least, ends+n.latencyOfRoute(route))
		}
	}
	return least-x.Latency < above-least
}
