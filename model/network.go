package model

import (
	"fmt"
	"sync"

	"github.com/topocast/topocast/topology"
)

// A Network is what an application keeps of a machine. It does not change,
// and may be used by many goroutines at once.
type Network struct {
	graph     *topology.Graph
	hierarchy *topology.Hierarchy // of confident groups
	found     topology.Result     // with the uncertain ones
	s         Settings            // checked and completed: Levels are known

	// What Predict reads.
	routes     *topology.Routes
	predictors sync.Pool // of *Predictor

	// What Time reads, flat and small.
	perByte []float64 // per level: of long messages, and of the typical pair's links, s/B
	leaf    []int32   // rank -> its smallest group
	groups  []flatGroup
	paths   *pathTable // nil where the hierarchy says it all
	tree    *treePaths // of a tree, for pairs that are not typical; nil for none
	hosts   []string   // distinct names, in order of first appearance
	hostOf  []int32    // rank -> index into hosts; nil if locations are not known
}

// Ranks is the number of ranks.
func (n *Network) Ranks() int { return len(n.leaf) }

// Graph is the wiring. In that of a tree uncertain groups have no switch. A graph that is no tree, where switches do not
// stand for groups, is as it was found.
func (n *Network) Graph() *topology.Graph { return n.graph }

// Hierarchy is the nesting of the ranks in confident groups, which schedules, predictions and placement follow: those
// of a confidence of at least topology.ConfidentFrom, and those whose confidence was not computed.
func (n *Network) Hierarchy() *topology.Hierarchy { return n.hierarchy }

// Reconstruction is what New makes this network of, with Settings: Graph, and the hierarchy with the uncertain groups that
// Hierarchy leaves out, for reports. Its levels are not those of Levels. Views and remeasured networks have no Local
// topologies. It is the network's own.
func (n *Network) Reconstruction() *topology.Result { return &n.found }

// Warnings says what is uncertain. The slice is the network's own.
func (n *Network) Warnings() []string { return n.found.Warnings }

// Levels returns the parameters of the levels of Hierarchy, fine to coarse,
// those of the root last. The slice is the network's own.
func (n *Network) Levels() []LevelParams { return n.s.Levels }

// Location is where a rank ran; the host is "" and the core -1 if that is not known.
func (n *Network) Location(rank int) Location {
	if n.s.Locations == nil {
		return Location{Core: -1}
	}
	return n.s.Locations[rank]
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
func (n *Network) Measured() Metadata { return n.s.Measured }

// Settings are those that make this network of its Reconstruction. Lists in them are the network's own.
func (n *Network) Settings() Settings { return n.s }

// With returns the network with changed settings, such as other resources, other ratios under load or another table of
// broadcasts. Lists in the settings are the network's own: change replaces them. The graph and the groups stay.
func (n *Network) With(change func(*Settings)) (*Network, error) {
	s := n.s
	change(&s)
	other, err := build(&n.found, s)
	if err == nil && n.tree != nil && n.tree.part {
		err = other.setPart(&n.tree.typicalPaths)
	}
	if err != nil {
		return nil, fmt.Errorf("model: network with other settings: %w", err)
	}
	return other, nil
}
