package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/topocast/topocast/topology"
)

// A Network is what an application keeps of a machine. It does not change,
// and may be used by many goroutines at once.
type Network struct {
	graph     *topology.Graph
	hierarchy *topology.Hierarchy // of firm groups
	reported  *topology.Hierarchy // with the weak ones
	fit       topology.Fit
	warnings  []string
	local     []topology.LocalTopology
	levels    []LevelParams // the root's last
	locations []Location
	measured  Metadata

	degradation *Degradation
	resources   []Resource
	bcastTable  json.RawMessage // of package bcast/table

	// What Predict reads.
	routing    topology.RouteChoice
	routes     *topology.Routes
	memory     float64 // B/s; NaN if not known
	links      LinkClasses
	rttBias    float64
	ratios     []float64
	predictors sync.Pool // of *Predictor

	// What Time reads, flat and small.
	longPerByte []float64 // per level: of long messages, s/B
	leaf        []int32   // rank -> its smallest group
	groups      []flatGroup
	paths       *pathTable // nil where the hierarchy says it all
	ways        *treeWays  // of a tree, for pairs that are not typical; nil for none
	pairs       *pairTable // nil without pairs
	hostPairs   *pairTable // nil without host pairs
	hosts       []string   // distinct names, in order of first appearance
	hostOf      []int32    // rank -> index into hosts; nil if locations are not known
}

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
	graph, arcOf, err := firmGraph(r.Graph, r.Hierarchy)
	if err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	if arcOf != nil {
		result, settings := *r, *s
		result.Graph = graph
		if len(s.Links.OfArc) == r.Graph.NumArcs() {
			settings.Links.OfArc = make([]int, len(arcOf))
			for i, arc := range arcOf {
				settings.Links.OfArc[i] = s.Links.OfArc[arc]
			}
		}
		r, s = &result, &settings
	}
	return newNetwork(r, s)
}

// newNetwork is New with a graph that has no switches of weak groups.
func newNetwork(r *topology.Result, s *Settings) (*Network, error) {
	ranks := r.Hierarchy.Hosts()
	n := &Network{
		graph: r.Graph, fit: r.Fit, warnings: slices.Clone(r.Warnings), local: r.Local,
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
	var err error
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
	n.memory, n.routing, n.rttBias = s.MemoryBandwidth, s.Routing, s.RTTBias
	if !(n.memory > 0) {
		n.memory = math.NaN()
	}
	if math.IsInf(n.memory, 0) || math.IsNaN(n.rttBias) || math.IsInf(n.rttBias, 0) {
		return fmt.Errorf("memory %g B/s, RTT bias %g: want them finite", n.memory, n.rttBias)
	}
	if n.degradation = s.Degradation.clone(); n.degradation != nil {
		if err := n.degradation.check(); err != nil {
			return err
		}
	}
	n.links = s.Links
	n.links.Classes, n.links.OfArc, n.links.Duplex = slices.Clone(s.Links.Classes), slices.Clone(s.Links.OfArc), slices.Clone(s.Links.Duplex)
	if err := n.links.checkDuplex(); err != nil {
		return err
	}
	if len(n.links.Classes) > 0 && len(n.links.OfArc) != n.graph.NumArcs() {
		return fmt.Errorf("link classes of %d arcs, want %d", len(n.links.OfArc), n.graph.NumArcs())
	}
	for i, class := range n.links.OfArc {
		if class < 0 || class >= len(n.links.Classes) {
			return fmt.Errorf("arc %d is of link class %d: want in [0, %d)", i, class, len(n.links.Classes))
		}
	}
	for _, c := range n.links.Classes {
		if !(c.Coupling >= 0 && c.Coupling <= 1) {
			return fmt.Errorf("coupling of link class %q is %g: want in [0, 1]", c.Name, c.Coupling)
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

// Ranks is the number of ranks.
func (n *Network) Ranks() int { return len(n.leaf) }

// Graph is the wiring. In that of a tree weak groups have no switch; a graph that
// is no tree, where switches do not stand for groups, is as it was found.
func (n *Network) Graph() *topology.Graph { return n.graph }

// Hierarchy is the nesting of the ranks in firm groups, which schedules,
// predictions and placement follow: those of a support of at least
// topology.FirmSupport, and those whose support was not computed.
func (n *Network) Hierarchy() *topology.Hierarchy { return n.hierarchy }

// ReportedHierarchy is the nesting with the weak groups that Hierarchy leaves out, for
// reports. Its levels are not those of Levels.
func (n *Network) ReportedHierarchy() *topology.Hierarchy { return n.reported }

// ReconstructionFit says how well the reconstruction explains what was measured.
func (n *Network) ReconstructionFit() topology.Fit { return n.fit }

// Warnings says what is weak. The slice is the network's own.
func (n *Network) Warnings() []string { return n.warnings }

// LocalTopologies are those that the graph was merged of, one per message length, short ones first
// (spanner.GreedyCycle.ReconstructSizes); nil: it was not. Views and remeasured networks have none. The slice is the network's own.
func (n *Network) LocalTopologies() []topology.LocalTopology { return n.local }

// Levels returns the parameters of the levels of Hierarchy, fine to coarse,
// those of the root last. The slice is the network's own.
func (n *Network) Levels() []LevelParams { return n.levels }

// Location is where a rank ran; the host is "" and the core -1 if that is not known.
func (n *Network) Location(rank int) Location {
	if n.locations == nil {
		return Location{Core: -1}
	}
	return n.locations[rank]
}

// NameHosts returns a graph of the same ranks whose hosts have the names of those on which the ranks ran.
// If these are not known, it returns the graph itself.
func (n *Network) NameHosts(g *topology.Graph) (*topology.Graph, error) {
	if len(n.hosts) == 0 {
		return g, nil
	}
	names := make([]string, n.Ranks())
	for rank := range names {
		names[rank] = n.Location(rank).Host
	}
	return g.WithHostNames(names)
}

// Hosts returns the distinct names of the hosts, in the order of their first
// rank; nil if they are not known. The slice is the network's own.
func (n *Network) Hosts() []string { return n.hosts }

// Measured says how the network was measured.
func (n *Network) Measured() Metadata { return n.measured }
