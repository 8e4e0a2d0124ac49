package model

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// New makes a network of a reconstruction. Slices and maps are copied. Only
// groups that are firm (topology.FirmSupport) count: the others are kept for reports
// (ReportedHierarchy), and their switches in the graph of a tree become one with those above.
// It refuses parameters that are negative or infinite, and lists of the wrong length.
func New(r *topology.Result, s *Settings) (*Network, error) {
	if s == nil {
		s = &Settings{}
	}
	if r == nil || r.Graph == nil || r.Hierarchy == nil {
		return nil, fmt.Errorf("model: network: the result has no graph or no hierarchy")
	}
	if r.Graph.Hosts() != r.Hierarchy.Hosts() {
		return nil, fmt.Errorf("model: network: %d hosts in the graph, %d in the hierarchy", r.Graph.Hosts(), r.Hierarchy.Hosts())
	}
	graph, err := firmGraph(r.Graph, r.Hierarchy)
	if err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	ranks := r.Hierarchy.Hosts()
	n := &Network{
		graph: graph, warnings: slices.Clone(r.Warnings), local: r.Local,
		locations: slices.Clone(s.Locations), measured: s.Measured,
	}
	n.fit = finiteFit(r.Fit)
	n.measured.Notes = maps.Clone(s.Measured.Notes)
	if s.Measured.Bytes < 0 {
		return nil, fmt.Errorf("model: network: measured with %d bytes: want at least 0", s.Measured.Bytes)
	}
	if s.Locations != nil && len(s.Locations) != ranks {
		return nil, fmt.Errorf("model: network: %d locations for %d ranks", len(s.Locations), ranks)
	}
	n.indexHosts()
	if n.resources, err = checkResources(s.Resources, ranks); err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	if n.reported, err = withKinds(r.Hierarchy, n.hostOf, n.resources); err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	if n.bcastTable, err = checkBcastTable(s.BcastTable); err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	n.hierarchy = n.reported.Firm(topology.FirmSupport)
	levels, err := levelParams(n.hierarchy, s)
	if err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	n.setLevels(levels)
	if err := n.setSharing(s); err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	n.flatten()
	if n.needsPaths() {
		n.paths = newPathTable(n.graph)
	}
	if n.pairs, err = newPairTable(ranks, s.Pairs); err != nil {
		return nil, fmt.Errorf("model: network: pairs: %w", err)
	}
	if n.hostPairs, err = newPairTable(len(n.hosts), s.HostPairs); err != nil {
		return nil, fmt.Errorf("model: network: host pairs: %w", err)
	}
	n.setWays()
	return n, nil
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
		finite(&f.Levels[i].Separation)
		finite(&f.Levels[i].Residual)
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

// setSharing takes over what Predict reads.
func (n *Network) setSharing(s *Settings) error {
	n.routing, n.law = s.Routing, s.Law
	if err := n.law.check(); err != nil {
		return err
	}
	if n.degradation = s.Degradation.clone(); n.degradation != nil {
		if err := n.degradation.check(); err != nil {
			return err
		}
	}
	n.ratios = slices.Clone(s.MeasuredOverPredicted)
	err := checkRatios(n.ratios)
	if err != nil {
		return err
	}
	n.routes, err = topology.NewRoutes(n.graph, s.Routing)
	return err
}

// FromGraph makes a network of a graph alone, such as that of a platform
// file: times are the latencies of the shortest paths, and the size over the
// least bandwidth on the path. Routing says which of several shortest routes
// concurrent transfers take.
func FromGraph(g *topology.Graph, routing topology.RouteChoice) (*Network, error) {
	h, err := topology.NewHierarchy(g.Hosts(), nil, nil, math.NaN())
	if err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	nan := math.NaN()
	return New(&topology.Result{
		Graph: g, Hierarchy: h,
		Fit: topology.Fit{R2: nan, Residual: nan, TreeLikeness: nan, Noise: nan},
	}, &Settings{Routing: routing})
}

func (n *Network) indexHosts() {
	if n.locations == nil {
		return
	}
	n.hostOf = make([]int32, len(n.locations))
	index := make(map[string]int32)
	for rank, at := range n.locations {
		i, ok := index[at.Host]
		if !ok {
			i = int32(len(n.hosts))
			index[at.Host] = i
			n.hosts = append(n.hosts, at.Host)
		}
		n.hostOf[rank] = i
	}
}
