package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// A Location says where a rank runs.
type Location struct {
	Host string // "" if not known
	Core int    // logical CPU; -1 if the rank is not bound to a single one, as mpi.Named has it
}

// Metadata says how a network was measured. A number without its conditions
// is not kept.
type Metadata struct {
	Date    string            `json:"date,omitempty"`    // RFC 3339
	Tool    string            `json:"tool,omitempty"`    // what measured or computed
	Library string            `json:"library,omitempty"` // the message-passing library and its version
	Bytes   int64             `json:"bytes"`             // size of the messages that gave the latencies
	Notes   map[string]string `json:"notes,omitempty"`   // settings and conditions, by name
}

// Settings are what New is told beyond a reconstruction. The zero value gives
// a network that knows latencies only.
type Settings struct {
	// Levels are the parameters of the levels of firm groups (see
	// Network.Hierarchy), fine to coarse, those of the root last. nil: the
	// latencies of the hierarchy, and LevelBandwidth.
	Levels []LevelParams
	// LevelBandwidth is that of each of these levels in B/s, the root last, NaN where it is not
	// known. Used if Levels is nil; nil: not known.
	LevelBandwidth []float64
	// Pairs and HostPairs have parameters of their own, which go before those of
	// the level; pairs of ranks before pairs of hosts.
	Pairs, HostPairs []PairParams
	// Locations of the ranks; nil: not known.
	Locations []Location
	// MemoryBandwidth is the rate in B/s at which the ranks of one host exchange data,
	// all together; not above 0: not known.
	MemoryBandwidth float64
	// Routing says which of several shortest routes flows take.
	Routing topology.RouteChoice
	// Links are the classes of the graph's links with their coupling; the zero value: fair sharing.
	Links LinkClasses
	// RTTBias b: flows that share a channel get shares as 1/RTT^b.
	RTTBias float64
	// MeasuredOverPredicted are quantiles, ascending and evenly spaced from 0 to 1, of measured over
	// predicted times of concurrent transfers; nil: not known.
	MeasuredOverPredicted []float64
	// Degradation under load; nil: not known.
	Degradation *Degradation
	// Measured says how.
	Measured Metadata
}

// A Network is what an application keeps of a machine. It does not change,
// and may be used by many goroutines at once.
type Network struct {
	graph     *topology.Graph
	hierarchy *topology.Hierarchy // of firm groups
	reported  *topology.Hierarchy // with the weak ones
	fit       topology.Fit
	warnings  []string
	levels    []LevelParams // the root's last
	locations []Location
	measured  Metadata

	degradation *Degradation

	// What Predict reads.
	routing    topology.RouteChoice
	routes     *topology.Routes
	memory     float64 // B/s; NaN if not known
	links      LinkClasses
	rttBias    float64
	ratios     []float64
	predictors sync.Pool // of *Predictor

	// What Time reads, flat and small.
	leaf      []int32 // rank -> its smallest group
	groups    []flatGroup
	paths     *pathTable // nil where the hierarchy says it all
	pairs     *pairTable // nil without pairs
	hostPairs *pairTable // nil without host pairs
	hosts     []string   // distinct names, in order of first appearance
	hostOf    []int32    // rank -> index into hosts; nil if locations are not known
}

// flatGroup is a group of the hierarchy as Time needs it.
type flatGroup struct {
	parent int32
	level  int32
	offset float64 // s: what pairs of this group need beyond the level's typical time
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
	firm := r.Hierarchy.Firm(topology.FirmSupport)
	ranks := firm.Hosts()
	n := &Network{
		graph: r.Graph, hierarchy: firm, reported: r.Hierarchy, fit: r.Fit, warnings: slices.Clone(r.Warnings),
		locations: slices.Clone(s.Locations), measured: s.Measured,
	}
	n.fit = finiteFit(r.Fit)
	n.measured.Notes = maps.Clone(s.Measured.Notes)
	if s.Measured.Bytes < 0 {
		return nil, fmt.Errorf("model: network: measured with %d bytes: want at least 0", s.Measured.Bytes)
	}
	var err error
	if n.levels, err = levelParams(firm, s); err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	if s.Locations != nil && len(s.Locations) != ranks {
		return nil, fmt.Errorf("model: network: %d locations for %d ranks", len(s.Locations), ranks)
	}
	if err := n.setSharing(s); err != nil {
		return nil, fmt.Errorf("model: network: %w", err)
	}
	n.indexHosts()
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
	n.links = LinkClasses{Classes: slices.Clone(s.Links.Classes), OfArc: slices.Clone(s.Links.OfArc), Law: s.Links.Law}
	if len(n.links.Classes) > 0 && len(n.links.OfArc) != n.graph.NumArcs() {
		return fmt.Errorf("link classes of %d arcs, want %d", len(n.links.OfArc), n.graph.NumArcs())
	}
	if n.links.Law != contention.GeometricLaw && n.links.Law != contention.LinearLaw {
		return fmt.Errorf("law of coupling is %d: want %d or %d", n.links.Law, contention.GeometricLaw, contention.LinearLaw)
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
	if len(n.ratios) == 1 || !slices.IsSorted(n.ratios) {
		return fmt.Errorf("ratios %v: want none, or at least two, ascending", n.ratios)
	}
	for _, x := range n.ratios {
		if !(x > 0) || math.IsInf(x, 0) {
			return fmt.Errorf("ratio %g: want above 0 and finite", x)
		}
	}
	var err error
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

// levelParams are the given parameters, or those that follow from the
// hierarchy's latencies and the given bandwidths.
func levelParams(h *topology.Hierarchy, s *Settings) ([]LevelParams, error) {
	want := len(h.Levels()) + 1
	var levels []LevelParams
	switch {
	case s.Levels != nil:
		if len(s.Levels) != want {
			return nil, fmt.Errorf("%d levels of parameters, want %d: the hierarchy's and the root", len(s.Levels), want)
		}
		for _, l := range s.Levels {
			levels = append(levels, LevelParams{PLogP: l.clone(), Spread: l.Spread})
		}
	default:
		if s.LevelBandwidth != nil && len(s.LevelBandwidth) != want {
			return nil, fmt.Errorf("%d bandwidths, want %d: one per level of the hierarchy and the root's", len(s.LevelBandwidth), want)
		}
		for i := range want {
			latency, bandwidth := h.Groups()[0].Latency, math.NaN()
			if i < want-1 {
				latency = h.Levels()[i].Latency
			}
			if s.LevelBandwidth != nil {
				bandwidth = s.LevelBandwidth[i]
			}
			if bandwidth <= 0 || math.IsInf(bandwidth, 0) {
				return nil, fmt.Errorf("bandwidth of level %d is %g B/s: want above 0 and finite, or NaN", i, bandwidth)
			}
			p := latencyOnly(latency, s.Measured.Bytes)
			if !math.IsNaN(bandwidth) {
				p = Hockney{latency, bandwidth}.PLogP()
			}
			// The measured latency holds the gap of the measuring message.
			p.Latency = math.Max(0, latency-p.GapAt(s.Measured.Bytes))
			levels = append(levels, LevelParams{PLogP: p, Spread: math.NaN()})
		}
	}
	for i := range levels {
		if err := levels[i].check(); err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		if levels[i].Spread < 0 || math.IsInf(levels[i].Spread, 1) {
			return nil, fmt.Errorf("level %d: spread %g: want at least 0 and finite, or NaN", i, levels[i].Spread)
		}
	}
	return levels, nil
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

// flatten copies what Time needs of the hierarchy.
func (n *Network) flatten() {
	h := n.hierarchy
	n.leaf = make([]int32, h.Hosts())
	for i := range n.leaf {
		n.leaf[i] = int32(h.Leaf(i))
	}
	n.groups = make([]flatGroup, len(h.Groups()))
	for i, g := range h.Groups() {
		// Both are times of messages of the measuring size.
		offset := g.Latency - n.levels[g.Level].Time(n.measured.Bytes)
		if math.IsNaN(offset) {
			offset = 0
		}
		n.groups[i] = flatGroup{parent: int32(g.Parent), level: int32(g.Level), offset: offset}
	}
}

// needsPaths tells whether the graph knows what the levels do not: latencies
// where the machine is no tree, or bandwidths.
func (n *Network) needsPaths() bool {
	if f := n.fit.Family; f != topology.FamilyTree && f != topology.FamilyFlat {
		return n.graph.NumArcs() > 0
	}
	known := func(a topology.Arc) bool { return !math.IsNaN(a.Bandwidth) }
	unknown := func(l LevelParams) bool { return len(l.Sizes) < 2 }
	return slices.ContainsFunc(n.levels, unknown) && slices.ContainsFunc(n.graph.Arcs(), known)
}

// Time is the time in s that one message of the given size in bytes takes
// from rank src to rank dst when nothing else is under way: 0 for src = dst,
// NaN where it is not known (see PLogP), for ranks outside the network and for
// sizes below 0. It does not allocate, but for the first message from a switch or
// host of a machine that is no tree. O(levels + log(sizes)).
func (n *Network) Time(src, dst int, bytes int64) float64 {
	if uint(src) >= uint(len(n.leaf)) || uint(dst) >= uint(len(n.leaf)) || bytes < 0 {
		return math.NaN()
	}
	if src == dst {
		return 0
	}
	if n.pairs != nil {
		if p := n.pairs.find(src, dst); p != nil {
			return p.Time(bytes)
		}
	}
	if n.hostPairs != nil {
		if p := n.hostPairs.find(int(n.hostOf[src]), int(n.hostOf[dst])); p != nil {
			return p.Time(bytes)
		}
	}
	g := &n.groups[n.join(src, dst)]
	p := &n.levels[g.level]
	if n.paths == nil {
		return g.offset + p.Time(bytes)
	}
	latency, bandwidth := n.paths.between(src, dst)
	if n.fit.Family == topology.FamilyTree || n.fit.Family == topology.FamilyFlat {
		latency = g.offset + p.Time(n.measured.Bytes)
	}
	if len(p.Sizes) > 1 {
		return math.Max(0, latency-p.GapAt(n.measured.Bytes)) + p.GapAt(bytes)
	}
	if bytes <= n.measured.Bytes {
		return latency
	}
	return latency + float64(bytes-n.measured.Bytes)/bandwidth
}

// join is the smallest group that holds both ranks.
func (n *Network) join(a, b int) int32 {
	x, y := n.leaf[a], n.leaf[b]
	for x != y {
		// Parents come before children: the later one is not an ancestor.
		if x > y {
			x = n.groups[x].parent
		} else {
			y = n.groups[y].parent
		}
	}
	return x
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

// Fit says how well the reconstruction explains what was measured.
func (n *Network) ReconstructionFit() topology.Fit { return n.fit }

// Warnings says what is weak. The slice is the network's own.
func (n *Network) Warnings() []string { return n.warnings }

// Levels returns the parameters of the levels of Hierarchy, fine to coarse,
// those of the root last. The slice is the network's own.
func (n *Network) Levels() []LevelParams { return n.levels }

// LevelOf is the index into Levels of the level that joins two ranks.
func (n *Network) LevelOf(a, b int) int { return int(n.groups[n.join(a, b)].level) }

// Location is where a rank ran; the host is "" and the core -1 if that is not known.
func (n *Network) Location(rank int) Location {
	if n.locations == nil {
		return Location{Core: -1}
	}
	return n.locations[rank]
}

// Hosts returns the distinct names of the hosts, in the order of their first
// rank; nil if they are not known. The slice is the network's own.
func (n *Network) Hosts() []string { return n.hosts }

// Measured says how the network was measured.
func (n *Network) Measured() Metadata { return n.measured }
