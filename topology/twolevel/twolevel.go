package twolevel

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// A Reconstructor makes one result of the insides of nodes and of what is between
// them. The zero value takes all hosts for one node.
type Reconstructor struct {
	// Nodes are the hosts of each node; the first one stands for it between the
	// nodes. Each host is in one node. Default: one node of all.
	Nodes [][]int

	// Names are those of the nodes; nil: none.
	Names []string

	// Like is by node the number of the node whose inside it has, host by host:
	// nodes of one kind need one of them to be measured. nil: each its own.
	Like []int

	// Inside and Between find what is inside a node and between the nodes.
	// Default: &linkage.Robust{}.
	Inside, Between topology.Reconstructor
}

var _ topology.Reconstructor = (*Reconstructor)(nil)

// Reconstruct takes latencies in s between the hosts, one matrix per
// repetition: those inside of nodes, those between the first hosts of all nodes, and
// those between all hosts of a node and some host outside, the same one for all
// of them. Without the latter the node's way out is where it is shortest. All others
// may be NaN and are not read.
//
// An error names the node. Time is that of Inside for each node that is
// measured, of Between, and O(hosts) matrices' cells.
func (r *Reconstructor) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	if len(repetitions) == 0 {
		return nil, fmt.Errorf("twolevel: no matrix")
	}
	hosts, _ := repetitions[0].Dims()
	for k, m := range repetitions {
		if rows, columns := m.Dims(); rows != hosts || columns != hosts {
			return nil, fmt.Errorf("twolevel: matrix %d is %d x %d: want %d x %d", k, rows, columns, hosts, hosts)
		}
	}
	nodes := r.Nodes
	if len(nodes) == 0 {
		nodes = [][]int{make([]int, hosts)}
		for h := range hosts {
			nodes[0][h] = h
		}
	}
	if err := r.check(nodes, hosts); err != nil {
		return nil, err
	}
	leaders := make([]int, len(nodes))
	for i, members := range nodes {
		leaders[i] = members[0]
	}
	between, err := found(r.Between, repetitions, leaders)
	if err != nil {
		return nil, fmt.Errorf("twolevel: between the nodes: %w", err)
	}
	if between, err = named(between, r.Names); err != nil {
		return nil, err
	}
	var said insideWarnings
	models := make([]topology.NodeModel, len(nodes))
	for i, members := range nodes {
		if r.Like != nil && r.Like[i] != i {
			continue
		}
		model, err := r.inside(repetitions, members)
		if err != nil {
			return nil, fmt.Errorf("twolevel: inside node %s: %w", between.Graph.Name(i), err)
		}
		for _, w := range model.Result.Warnings {
			said.add(between.Graph.Name(i), w)
		}
		models[i] = model
	}
	for i := range nodes {
		if r.Like != nil {
			models[i] = models[r.Like[i]]
		}
	}
	joined, err := topology.Join(between, models)
	if err != nil {
		return nil, err
	}
	joined.Warnings = slices.Concat(between.Warnings, said.all(), joined.Warnings)
	return joined.Renumber(slices.Concat(nodes...))
}

// check refuses nodes that are not a partition of the hosts.
func (r *Reconstructor) check(nodes [][]int, hosts int) error {
	node := make([]int, hosts)
	for i, members := range nodes {
		if len(members) == 0 {
			return fmt.Errorf("twolevel: Nodes: node %d has no host", i)
		}
		for _, h := range members {
			if h < 0 || h >= hosts {
				return fmt.Errorf("twolevel: Nodes: node %d: host %d: want one in [0, %d)", i, h, hosts)
			}
			if node[h] != 0 {
				return fmt.Errorf("twolevel: Nodes: host %d is in nodes %d and %d", h, node[h]-1, i)
			}
			node[h] = i + 1
		}
	}
	if h := slices.Index(node, 0); h >= 0 {
		return fmt.Errorf("twolevel: Nodes: host %d is in no node", h)
	}
	if r.Names != nil && len(r.Names) != len(nodes) {
		return fmt.Errorf("twolevel: Names: %d for %d nodes", len(r.Names), len(nodes))
	}
	if r.Like == nil {
		return nil
	}
	if len(r.Like) != len(nodes) {
		return fmt.Errorf("twolevel: Like: %d entries for %d nodes", len(r.Like), len(nodes))
	}
	for i, like := range r.Like {
		if like < 0 || like >= len(nodes) || r.Like[like] != like || len(nodes[like]) != len(nodes[i]) {
			return fmt.Errorf("twolevel: Like: node %d is like %d: want a node like itself, of as many hosts", i, like)
		}
	}
	return nil
}

// inside finds the model of one node, with a host outside if there is one that
// all hosts of the node were measured with.
func (r *Reconstructor) inside(repetitions []mat.Matrix, members []int) (topology.NodeModel, error) {
	model := topology.NodeModel{External: -1}
	all := members
	if outside := neighbour(repetitions, members); outside >= 0 && len(members) > 1 {
		model.External = len(members)
		all = append(slices.Clone(members), outside)
	}
	var err error
	if model.Result, err = found(r.Inside, repetitions, all); err != nil || model.External < 0 {
		return model, err
	}
	// What is weak is what is weak without the outside: that it is there, and
	// alone, is no finding.
	alone, err := found(r.Inside, repetitions, members)
	if err != nil {
		return model, err
	}
	own := *model.Result
	own.Warnings = alone.Warnings
	model.Result = &own
	return model, nil
}

// neighbour is the lowest host outside that was measured with all members, or -1.
func neighbour(repetitions []mat.Matrix, members []int) int {
	hosts, _ := repetitions[0].Dims()
	for h := range hosts {
		if slices.Contains(members, h) {
			continue
		}
		if !slices.ContainsFunc(members, func(m int) bool { return !measured(repetitions, m, h) }) {
			return h
		}
	}
	return -1
}

// measured tells whether any repetition has a reading of two hosts.
func measured(repetitions []mat.Matrix, a, b int) bool {
	return slices.ContainsFunc(repetitions, func(m mat.Matrix) bool {
		return !math.IsNaN(m.At(a, b)) || !math.IsNaN(m.At(b, a))
	})
}

// found is what a method finds of some of the hosts. A single one needs none.
func found(method topology.Reconstructor, repetitions []mat.Matrix, hosts []int) (*topology.Result, error) {
	if len(hosts) == 1 {
		return single()
	}
	if method == nil {
		method = &linkage.Robust{}
	}
	parts := make([]mat.Matrix, len(repetitions))
	for k, m := range repetitions {
		part := mat.NewDense(len(hosts), len(hosts), nil)
		for i, a := range hosts {
			for j, b := range hosts {
				part.Set(i, j, m.At(a, b))
			}
		}
		parts[k] = part
	}
	return method.Reconstruct(parts...)
}

// single is the result of one host.
func single() (*topology.Result, error) {
	g, err := topology.NewGraph(1, 0, nil, nil)
	if err != nil {
		return nil, err
	}
	h, err := topology.NewHierarchy(1, nil, nil, math.NaN())
	if err != nil {
		return nil, err
	}
	return &topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{
		Family: topology.FamilyFlat, R2: math.NaN(), Residual: math.NaN(), TreeLikeness: math.NaN(), Noise: math.NaN(),
	}}, nil
}

// named gives the hosts of a result their names.
func named(r *topology.Result, names []string) (*topology.Result, error) {
	if names == nil {
		return r, nil
	}
	own := *r
	var err error
	own.Graph, err = r.Graph.WithHostNames(names)
	return &own, err
}
