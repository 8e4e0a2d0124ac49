package gen

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

// Relabel numbers the hosts anew: host i becomes host label[i]. Label is a
// permutation of 0..Hosts-1; rng.Perm makes a random one. Switches keep their
// numbers, and the physical machines theirs.
func (c *Cluster) Relabel(label []int) (*Cluster, error) {
	g := c.Graph
	if !slices.Equal(slices.Sorted(slices.Values(label)), identity(g.Hosts())) {
		return nil, fmt.Errorf("gen: relabel: %d labels: want a permutation of the %d hosts", len(label), g.Hosts())
	}
	of := func(v int) int {
		if g.IsSwitch(v) {
			return v
		}
		return label[v]
	}
	arcs := make([]topology.Arc, g.NumArcs())
	for i, a := range g.Arcs() {
		a.From, a.To = of(a.From), of(a.To)
		arcs[i] = a
	}
	groups := make([]topology.Group, 0, len(c.Hierarchy.Groups()))
	for _, old := range c.Hierarchy.Groups()[1:] {
		hosts := make([]int, len(old.Hosts))
		for i, h := range old.Hosts {
			hosts[i] = label[h]
		}
		groups = append(groups, topology.Group{Hosts: hosts, Level: old.Level, Latency: old.Latency, Confidence: old.Confidence})
	}
	r := &Cluster{Node: make([]int, len(c.Node)), Choice: c.Choice}
	for i, n := range c.Node {
		r.Node[label[i]] = n
	}
	var err error
	if r.Graph, err = topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), nil, arcs); err != nil {
		return nil, fmt.Errorf("gen: relabel: %w", err)
	}
	if r.Hierarchy, err = topology.NewHierarchy(g.Hosts(), c.Hierarchy.Levels(), groups, c.Hierarchy.Groups()[0].Latency); err != nil {
		return nil, fmt.Errorf("gen: relabel: %w", err)
	}
	return r, nil
}

// RelabelMatrix is the matrix of the relabelled hosts: cell (i, j) of m
// becomes cell (label[i], label[j]).
func RelabelMatrix(m mat.Matrix, label []int) *mat.Dense {
	n, _ := m.Dims()
	out := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			out.Set(label[i], label[j], m.At(i, j))
		}
	}
	return out
}
