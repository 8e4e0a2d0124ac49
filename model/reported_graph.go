package model

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
	"gonum.org/v1/gonum/mat"
)

// ReportedGraph returns the graph with a switch for each uncertain group, too. The uplink of such a switch has the
// confidence of the group for its probability. Graph follows confident groups only. One slow host is enough to make the
// group of its rack uncertain. Graph then puts all hosts of the rack as far apart as those of different racks. Of networks
// that are no trees it returns Graph. O(n^2) for n ranks.
func (n *Network) ReportedGraph() (*topology.Graph, error) {
	g, h, family := n.graph, n.found.Hierarchy, n.found.Fit.Family
	weak := slices.ContainsFunc(h.Groups(), func(x topology.Group) bool { return !x.Firm() })
	if !weak || family != topology.FamilyTree && family != topology.FamilyFlat || math.IsNaN(h.Groups()[0].Latency) {
		return g, nil
	}
	tree, err := h.Graph()
	if err != nil {
		return nil, err
	}
	arcs := slices.Clone(tree.Arcs())
	for i := range arcs {
		a := &arcs[i]
		lower, group := min(a.From, a.To), topology.Group{Support: 1}
		hosts := []int{lower}
		if tree.IsSwitch(lower) { // parents come before children
			lower = max(a.From, a.To)
			group = h.Groups()[lower-tree.Hosts()]
			hosts = group.Hosts
		}
		from, to, ok := g.LinkAbove(hosts)
		if a.To == lower {
			from, to = to, from
		}
		if arc := g.ArcIndex(from, to); ok && arc >= 0 {
			a.Bandwidth, a.Estimated = g.Arcs()[arc].Bandwidth, g.Arcs()[arc].Estimated
		}
		if !group.Firm() {
			a.Probability = math.Max(group.Support, 0.01)
		}
	}
	if tree, err = tree.WithArcs(arcs); err != nil {
		return nil, err
	}
	if tree, err = tree.WithHostNames(g.Names()[:g.Hosts()]); err != nil {
		return nil, err
	}
	fitted, err := latencyfit.Latencies(tree, nil, n.reportedLatencies(), nil)
	if err != nil {
		return nil, err
	}
	return fitted.Graph, nil
}

// reportedLatencies are the latencies in s that the network knows: those of the
// paths of its tree, but where an uncertain group joins two ranks that of the group.
func (n *Network) reportedLatencies() *mat.Dense {
	h, distances := n.found.Hierarchy, n.graph.HostDistances()
	m := mat.NewDense(n.Ranks(), n.Ranks(), nil)
	for i := range n.Ranks() {
		for j := range n.Ranks() {
			latency := distances[i*n.Ranks()+j]
			if x := h.Groups()[h.Common(i, j)]; j != i && !x.Firm() {
				latency = x.Latency
			}
			if math.IsInf(latency, 1) {
				latency = math.NaN()
			}
			m.Set(i, j, latency)
		}
	}
	return m
}
