package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// A Remeasurement is what was measured anew along the wiring of a network (Bufe
// 2014, section 2.5).
type Remeasurement struct {
	// Observations of single transfers give the times of levels; those of
	// Network.Measured().Bytes the latencies of groups.
	Observations []Observation
	// Links are arcs of the network's graph with their latency in s and bandwidth in B/s; NaN
	// stays as it was. Of a bandwidth that is a lower bound alone, Estimated is true.
	Links []topology.Arc
	// Warnings say what is uncertain. They are kept behind those of the network.
	Warnings []string
	// Measured takes the place of the network's. Its Bytes do not count: they stay.
	Measured model.Metadata
}

// Update returns the network with new parameters of the same wiring: levels,
// latencies of groups, and latencies and bandwidths of links. Levels and groups
// without observations keep what they have, scaled with their level if that was measured.
// How links are shared, degradation, resources and ranks stay. Errors name the observation or the link.
// O(observations + groups + arcs).
func Update(n *model.Network, m *Remeasurement) (*model.Network, error) {
	if err := checkObservations(m.Observations, n.Ranks()); err != nil {
		return nil, fmt.Errorf("fit: update: %w", err)
	}
	arcs, err := replaced(n.Graph(), m.Links)
	if err != nil {
		return nil, fmt.Errorf("fit: update: %w", err)
	}
	graph, err := n.Graph().WithArcs(arcs)
	if err != nil {
		return nil, fmt.Errorf("fit: update: %w", err)
	}
	hierarchy, err := remeasuredHierarchy(n.Reconstruction().Hierarchy, m.Observations, n.Measured().Bytes)
	if err != nil {
		return nil, fmt.Errorf("fit: update: %w", err)
	}
	s := n.Settings()
	s.Levels, s.BcastTable, s.Measured = nil, nil, m.Measured
	s.Measured.Bytes = n.Measured().Bytes
	r := &topology.Result{Graph: graph, Hierarchy: hierarchy, Fit: n.Reconstruction().Fit}
	base, err := model.New(r, &s)
	if err != nil {
		return nil, fmt.Errorf("fit: update: %w", err)
	}
	levels, warnings := fitLevels(base, m.Observations)
	for i := range levels {
		levels[i].MeasuredOverPredicted = n.Levels()[i].MeasuredOverPredicted
		if len(levels[i].Sizes) >= 2 && levels[i].Sizes[len(levels[i].Sizes)-1] > n.Measured().Bytes {
			continue
		}
		// Nothing longer was measured: the gap stays, and the latency moves.
		levels[i].PLogP = n.Levels()[i].PLogP
		if moved := base.Levels()[i].Time(n.Measured().Bytes) - n.Levels()[i].Time(n.Measured().Bytes); !math.IsNaN(moved) {
			levels[i].Latency = math.Max(0, levels[i].Latency+moved)
		}
		about := fmt.Sprintf("level %d: single transfers of ", i)
		warnings = slices.DeleteFunc(warnings, func(w string) bool { return strings.HasPrefix(w, about) })
	}
	s.Levels = levels
	r.Warnings = append(warningsBut(n, graph), append(warnings, m.Warnings...)...)
	fresh, err := model.New(r, &s)
	if err != nil {
		return nil, fmt.Errorf("fit: update: %w", err)
	}
	return fresh, nil
}

// replaced are the arcs of the graph with those given in their places.
func replaced(g *topology.Graph, links []topology.Arc) ([]topology.Arc, error) {
	arcs := slices.Clone(g.Arcs())
	for i, l := range links {
		arc := -1
		if min(l.From, l.To) >= 0 && max(l.From, l.To) < g.Vertices() {
			arc = g.ArcIndex(l.From, l.To)
		}
		if arc < 0 {
			return nil, fmt.Errorf("in Links[%d]: %d to %d: the graph has no such arc", i, l.From, l.To)
		}
		if !math.IsNaN(l.Latency) {
			arcs[arc].Latency = l.Latency
		}
		if !math.IsNaN(l.Bandwidth) {
			arcs[arc].Bandwidth, arcs[arc].Estimated = l.Bandwidth, l.Estimated
		}
	}
	return arcs, nil
}

// remeasuredHierarchy has the groups of another one with the latencies that single
// transfers of a size give: the median over pairs of the least time of each.
func remeasuredHierarchy(h *topology.Hierarchy, observations []Observation, bytes int64) (*topology.Hierarchy, error) {
	least := make(map[[2]int]float64)
	var pairs [][2]int
	for _, o := range observations {
		if len(o.Transfers) != 1 || o.Transfers[0].Bytes != bytes {
			continue
		}
		p := [2]int{min(o.Transfers[0].Src, o.Transfers[0].Dst), max(o.Transfers[0].Src, o.Transfers[0].Dst)}
		t, ok := least[p]
		if !ok {
			pairs = append(pairs, p)
		}
		if !ok || o.Seconds[0] < t {
			least[p] = o.Seconds[0]
		}
	}
	groups, levels := slices.Clone(h.Groups()), slices.Clone(h.Levels())
	ofGroup, ofLevel := make([][]float64, len(groups)), make([][]float64, len(levels)+1)
	for _, p := range pairs {
		g := h.Common(p[0], p[1])
		ofGroup[g] = append(ofGroup[g], least[p])
		ofLevel[groups[g].Level] = append(ofLevel[groups[g].Level], least[p])
	}
	scale := make([]float64, len(levels)+1)
	for i, times := range ofLevel {
		old := groups[0].Latency
		if i < len(levels) {
			old = levels[i].Latency
		}
		scale[i] = 1
		if len(times) == 0 {
			continue
		}
		fresh := stats.MiddleMedian(times)
		if old > 0 {
			scale[i] = fresh / old
		}
		if i < len(levels) {
			levels[i].Latency = fresh
		}
	}
	for i := range groups {
		if times := ofGroup[i]; len(times) > 0 {
			groups[i].Latency = stats.MiddleMedian(times)
		} else {
			groups[i].Latency *= scale[groups[i].Level]
		}
	}
	return topology.NewHierarchy(h.Hosts(), levels, groups[1:], groups[0].Latency)
}

// warningsBut are the network's with how many links are estimated in the graph as it is now.
func warningsBut(n *model.Network, graph *topology.Graph) []string {
	before, now := estimateWarning(n.Graph()), estimateWarning(graph)
	warnings := slices.DeleteFunc(slices.Clone(n.Warnings()), func(w string) bool { return w == before })
	if now != "" {
		warnings = append(warnings, now)
	}
	return warnings
}
