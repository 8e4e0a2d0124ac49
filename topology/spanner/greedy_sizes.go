package spanner

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/measured"
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
// the topologies, and Result.MeanGraph the means over all lengths. Sizes come in any order, each once.
func (c *GreedyCycle) ReconstructSizes(sizes ...Sized) (*topology.Result, error) {
	if len(sizes) == 0 {
		return nil, fmt.Errorf("spanner: greedy: no message length is given")
	}
	sizes = slices.SortedFunc(slices.Values(sizes), func(a, b Sized) int { return int(min(1, max(-1, a.Bytes-b.Bytes))) })
	latencies := make([]*measured.Directed, len(sizes))
	for i, s := range sizes {
		var err error
		if latencies[i], err = measured.DirectedOf("spanner: greedy", s.Repetitions); err != nil {
			return nil, fmt.Errorf("messages of %d B: %w", s.Bytes, err)
		}
	}
	shortest := latencies[0]
	n := shortest.N()
	found := make(map[[2]int]int) // in how many of the topologies an arc is
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
		if r.Graph.Hosts() != n {
			return nil, fmt.Errorf("spanner: greedy: messages of %d B are between %d hosts, and those of %d B between %d: want the same hosts", s.Bytes, r.Graph.Hosts(), sizes[0].Bytes, n)
		}
		for _, a := range r.Graph.Arcs() {
			found[[2]int{a.From, a.To}]++
		}
		graphs = append(graphs, r.Graph)
		local = append(local, topology.LocalTopology{Bytes: s.Bytes, Arcs: r.Graph.Arcs()})
		for _, w := range r.Warnings {
			warnings = append(warnings, fmt.Sprintf("messages of %d B: %s", s.Bytes, w))
		}
	}
	arcs := make([]topology.Arc, 0, len(found))
	for ends, times := range found { // NewGraph sorts them
		arcs = append(arcs, topology.Arc{
			From: ends[0], To: ends[1], Latency: shortest.Cells()[ends[0]*n+ends[1]], Bandwidth: math.NaN(),
			Probability: float64(times) / float64(len(sizes)),
		})
	}
	merged, err := topology.NewGraph(n, 0, nil, arcs)
	if err != nil {
		return nil, err
	}
	result, err := topology.NewResult(merged, shortest.Cells(), 0, shortest.Noise(), warnings)
	if err != nil {
		return nil, err
	}
	for i := range local {
		for _, a := range merged.Arcs() {
			if graphs[i].ArcIndex(a.From, a.To) < 0 {
				a.Latency, a.Probability = latencies[i].Cells()[a.From*n+a.To], 1
				local[i].Absent = append(local[i].Absent, a)
			}
		}
	}
	result.Local = local
	return result, nil
}
