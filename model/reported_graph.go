package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
	"gonum.org/v1/gonum/mat"
)

// ReportedGraph returns the graph with a switch for each uncertain group, too. The uplink of such a switch has the
// confidence of the group for its probability. Graph follows confident groups only: one slow host is enough to make the
// group of its rack uncertain, and Graph then puts all hosts of the rack as far apart as those of different racks. Of
// networks that are no trees it returns Graph. O(n^2) for n ranks.
func (n *Network) ReportedGraph() (*topology.Graph, error) {
	g, h := n.Graph(), n.ReportedHierarchy()
	family := n.ReconstructionFit().Family
	weak := slices.ContainsFunc(h.Groups(), func(x topology.Group) bool { return !x.Firm() })
	if !weak || family != topology.FamilyTree && family != topology.FamilyFlat || math.IsNaN(h.Groups()[0].Latency) {
		return g, nil
	}
	ranks := g.Hosts()
	names := g.Names()[:ranks]
	order, _ := treeOrder(g)
	var arcs []topology.Arc
	link := func(group topology.Group, upper int, lower int, hosts []int, latency float64) {
		arcs = topology.AppendLink(arcs, upper, lower, math.Max(0, latency), math.NaN())
		pair := arcs[len(arcs)-2:]
		if from, to, ok := g.LinkAbove(hosts); ok && order != nil {
			for i, arc := range []int{g.ArcIndex(to, from), g.ArcIndex(from, to)} {
				pair[i].Bandwidth, pair[i].Estimated = g.Arcs()[arc].Bandwidth, g.Arcs()[arc].Estimated
			}
		}
		if !group.Firm() {
			pair[0].Probability, pair[1].Probability = math.Max(group.Support, 0.01), math.Max(group.Support, 0.01)
		}
	}
	for i, x := range h.Groups() {
		names = append(names, fmt.Sprintf("s%d", i))
		if i > 0 {
			link(x, ranks+x.Parent, ranks+i, x.Hosts, (h.Groups()[x.Parent].Latency-x.Latency)/2)
		}
	}
	for v := range ranks {
		at := h.Smallest(v)
		link(topology.Group{Support: 1}, ranks+at, v, []int{v}, h.Groups()[at].Latency/2)
	}
	tree, err := topology.NewGraph(ranks, len(h.Groups()), names, arcs)
	if err != nil {
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
	h, distances := n.ReportedHierarchy(), n.Graph().HostDistances()
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
