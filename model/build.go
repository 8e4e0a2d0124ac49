package model

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// New makes a network of a reconstruction. Slices and maps are copied. Only confident groups (topology.ConfidentFrom)
// decide. Uncertain ones are kept for reports (Reconstruction), and their switches in the graph of a tree become one
// with those above. It refuses parameters that are negative or infinite, and lists of the wrong length.
func New(r *topology.Result, s *Settings) (*Network, error) {
	if s == nil {
		s = &Settings{}
	}
	n, err := build(r, *s)
	if err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	return n, nil
}

// build is New: the network keeps copies of the settings, checked and completed.
func build(r *topology.Result, s Settings) (*Network, error) {
	switch {
	case r == nil || r.Graph == nil || r.Hierarchy == nil:
		return nil, fmt.Errorf("the result has no graph or no hierarchy")
	case r.Graph.Hosts() != r.Hierarchy.Hosts():
		return nil, fmt.Errorf("%d hosts in the graph, %d in the hierarchy", r.Graph.Hosts(), r.Hierarchy.Hosts())
	case s.Measured.Bytes < 0:
		return nil, fmt.Errorf("measured with %d bytes: want at least 0", s.Measured.Bytes)
	case s.Locations != nil && len(s.Locations) != r.Hierarchy.Hosts():
		return nil, fmt.Errorf("%d locations for %d ranks", len(s.Locations), r.Hierarchy.Hosts())
	}
	n := &Network{found: topology.Result{Fit: finiteFit(r.Fit), Warnings: slices.Clone(r.Warnings), Local: r.Local}, s: s}
	n.s.Locations, n.s.MeasuredOverPredicted = slices.Clone(s.Locations), slices.Clone(s.MeasuredOverPredicted)
	n.s.Measured.Notes, n.s.Degradation = maps.Clone(s.Measured.Notes), s.Degradation.clone()
	n.indexHosts()
	var err error
	if n.s.BcastTable, err = checkBcastTable(s.BcastTable); err != nil {
		return nil, err
	}
	if err := n.setGroups(r); err != nil {
		return nil, err
	}
	if err := n.setParameters(); err != nil {
		return nil, err
	}
	n.flatten()
	if n.needsPaths() {
		n.paths = newPathTable(n.graph)
	}
	n.setTree()
	return n, nil
}

// setGroups takes over the groups and the wiring of a reconstruction.
func (n *Network) setGroups(r *topology.Result) (err error) {
	if n.s.Resources, err = checkResources(n.s.Resources, r.Hierarchy.Hosts()); err != nil {
		return err
	}
	if n.found.Hierarchy, err = withKinds(r.Hierarchy, n.hostOf, n.s.Resources); err != nil {
		return err
	}
	n.hierarchy = n.found.Hierarchy.Confident(topology.ConfidentFrom)
	if n.graph, err = confidentGraph(r.Graph, r.Hierarchy); err != nil {
		return err
	}
	n.found.Graph = n.graph
	n.routes, err = topology.NewRoutes(n.graph, n.s.Routing)
	return err
}

// setParameters checks and completes what Time and Predict read.
func (n *Network) setParameters() error {
	levels, err := levelParams(n.hierarchy, &n.s)
	if err != nil {
		return err
	}
	n.s.Levels, n.perByte = levels, nil
	for i := range levels {
		n.perByte = append(n.perByte, levels[i].perByte())
	}
	n.s.LevelBandwidth = nil // the levels have it
	if err := n.s.Law.check(); err != nil {
		return err
	}
	if err := n.s.Degradation.check(); err != nil {
		return err
	}
	return checkRatios(n.s.MeasuredOverPredicted)
}

// finiteFit is a copy in which what came out infinite, as a spread of one
// repetition may, is not known.
func finiteFit(f topology.Fit) topology.Fit {
	finite := func(x *float64) {
		if math.IsInf(*x, 0) {
			*x = math.NaN()
		}
	}
	f.Levels = slices.Clone(f.Levels)
	for i := range f.Levels {
		finite(&f.Levels[i])
	}
	finite(&f.R2)
	finite(&f.Residual)
	finite(&f.TreeLikeness)
	finite(&f.Noise)
	if !(f.Overhead >= 0 && f.Overhead <= math.MaxFloat64) {
		f.Overhead = 0
	}
	return f
}

// FromGraph makes a network of a graph alone, such as that of a platform
// file: times are the latencies of the shortest paths, and the size over the
// least bandwidth on the path. Routing says which of several shortest routes
// concurrent transfers take.
func FromGraph(g *topology.Graph, routing topology.RouteChoice) (*Network, error) {
	return graphNetwork(g, routing, nil)
}

// graphNetwork is FromGraph with warnings of what read the graph.
func graphNetwork(g *topology.Graph, routing topology.RouteChoice, warnings []string) (*Network, error) {
	h, err := topology.NewHierarchy(g.Hosts(), nil, nil, math.NaN())
	if err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	return New(&topology.Result{Graph: g, Hierarchy: h, Fit: unknownFit(""), Warnings: warnings}, &Settings{Routing: routing})
}

func (n *Network) indexHosts() {
	if n.s.Locations == nil {
		return
	}
	n.hostOf = make([]int32, len(n.s.Locations))
	index := make(map[string]int32)
	for rank, at := range n.s.Locations {
		i, ok := index[at.Host]
		if !ok {
			i = int32(len(n.hosts))
			index[at.Host] = i
			n.hosts = append(n.hosts, at.Host)
		}
		n.hostOf[rank] = i
	}
}
