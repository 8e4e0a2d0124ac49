package measure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// twoLevels finds the inside of each node apart from what is between the nodes, by the same method, and joins both
// (Bufe 2014, section 2.7). Latencies inside nodes and between them, a hundred times as long, would spoil each other
// (section 3.3.4).
type twoLevels struct {
	nodes  *nodes
	method topology.Reconstructor
}

var _ topology.Reconstructor = (*twoLevels)(nil)

// Reconstruct takes latencies in s between the ranks, one matrix per repetition: those inside of nodes, those between
// the leaders, which are the first ranks of the nodes, and those between all ranks of a node and the leader of the next.
// Without the latter the node's way out is where it is shortest. All others may be NaN and are not read.
//
// An error names the node. Time is that of the method for each node that is measured and for the leaders.
func (r *twoLevels) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	between, err := r.among(r.nodes.leaders(), repetitions)
	if err != nil {
		return nil, fmt.Errorf("measure: between the nodes: %w", err)
	}
	graph, err := between.Graph.WithHostNames(r.nodes.names)
	if err != nil {
		return nil, err
	}
	named := *between
	named.Graph = graph
	var said []string               // what is said of the inside of nodes: many are much alike
	saidOf := map[string][]string{} // the nodes of which it is said
	models := make([]topology.NodeModel, len(r.nodes.ranks))
	for i, ranks := range r.nodes.ranks {
		if like := r.nodes.like[i]; like < i { // the first of its kind
			models[i] = models[like]
		} else {
			name := r.nodes.names[i]
			if models[i], err = r.inside(i, repetitions); err != nil {
				return nil, fmt.Errorf("measure: inside node %s: %w", name, err)
			}
			for _, w := range models[i].Result.Warnings {
				if saidOf[w] == nil {
					said = append(said, w)
				}
				saidOf[w] = append(saidOf[w], name)
			}
		}
		models[i].Hosts = ranks
	}
	joined, err := topology.Join(&named, models)
	if err != nil {
		return nil, err
	}
	for i, w := range said {
		said[i] = fmt.Sprintf("inside node %s, whose ranks are counted from 0: %s", words.Few(saidOf[w], 1), w)
	}
	joined.Warnings = slices.Concat(between.Warnings, said, joined.Warnings)
	return joined, nil
}

// inside finds the model of one node, with the leader of the next node if all ranks of the node were measured with it.
func (r *twoLevels) inside(node int, repetitions []mat.Matrix) (topology.NodeModel, error) {
	ranks, outside := r.nodes.ranks[node], r.nodes.outside(node)
	unmeasured := func(rank int) bool {
		return !slices.ContainsFunc(repetitions, func(m mat.Matrix) bool {
			return !math.IsNaN(m.At(rank, outside)) || !math.IsNaN(m.At(outside, rank))
		})
	}
	alone, err := r.among(ranks, repetitions)
	if err != nil || len(ranks) == 1 || slices.Contains(ranks, outside) || slices.ContainsFunc(ranks, unmeasured) {
		return topology.NodeModel{Result: alone, External: -1}, err
	}
	found, err := r.among(append(slices.Clone(ranks), outside), repetitions)
	if err != nil {
		return topology.NodeModel{}, err
	}
	// What is uncertain is what is uncertain without the outside: that it is there, and
	// alone, is no finding.
	own := *found
	own.Warnings = alone.Warnings
	return topology.NodeModel{Result: &own, External: len(ranks)}, nil
}

// among is what the method finds of some of the ranks. Of a single one there is nothing to find.
func (r *twoLevels) among(ranks []int, repetitions []mat.Matrix) (*topology.Result, error) {
	method := r.method
	if len(ranks) == 1 {
		method = &linkage.Robust{}
	}
	parts := make([]mat.Matrix, len(repetitions))
	for k, m := range repetitions {
		parts[k] = measured.Among(m, ranks)
	}
	return method.Reconstruct(parts...)
}
