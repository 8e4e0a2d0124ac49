package spanner

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A Sized is what was measured with messages of one length: repetitions as Reconstruct takes them.
type Sized struct {
	Bytes       int64
	Repetitions []mat.Matrix
}

// ReconstructSizes finds a topology for each message length and merges them (Bannikov and Salnikov
// 2014, section 2.1): the probability of an arc is the share of lengths that have it. Latencies of
// the graph are those of the shortest messages, which hold least of what bytes take; Result.Local has
// the topologies, and Result.Channels lengths by the mean. Sizes come in any order, each once.
func (c *GreedyCycle) ReconstructSizes(sizes ...Sized) (*topology.Result, error) {
	if len(sizes) == 0 {
		return nil, fmt.Errorf("spanner: greedy: no message length is given")
	}
	sizes = slices.SortedFunc(slices.Values(sizes), func(a, b Sized) int { return int(min(1, max(-1, a.Bytes-b.Bytes))) })
	var graphs []*topology.Graph
	var local []topology.LocalTopology
	var warnings []string
	for i, s := range sizes {
		if i > 0 && s.Bytes == sizes[i-1].Bytes {
			return nil, fmt.Errorf("spanner: greedy: messages of %d B are given twice", s.Bytes)
		}
		r, err := c.Reconstruct(s.Repetitions...)
		if err != nil {
			return nil, fmt.Errorf("messages of %d B: %w", s.Bytes, err)
		}
		graphs = append(graphs, r.Graph)
		local = append(local, topology.LocalTopology{Bytes: s.Bytes, Arcs: r.Graph.Arcs()})
		for _, w := range r.Warnings {
			warnings = append(warnings, fmt.Sprintf("messages of %d B: %s", s.Bytes, w))
		}
	}
	merged, err := topology.Merge(graphs...)
	if err != nil {
		return nil, err
	}
	shortest, err := readings.DirectedOf("spanner: greedy", sizes[0].Repetitions)
	if err != nil {
		return nil, err
	}
	arcs := slices.Clone(merged.Arcs())
	for i, a := range arcs {
		arcs[i].Latency = shortest.Cells()[a.From*shortest.N()+a.To] // NaN: not measured
	}
	if merged, err = merged.WithArcs(arcs); err != nil {
		return nil, err
	}
	result, err := topology.NewResult(merged, shortest.Cells(), 0, shortest.Noise(), warnings)
	if err != nil {
		return nil, err
	}
	result.Local = local
	return result, nil
}
