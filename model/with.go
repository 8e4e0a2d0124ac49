package model

import (
	"fmt"

	"github.com/topocast/topocast/topology"
)

// Settings are those that make this network of its graph and its reported hierarchy. Lists in them are the network's own.
func (n *Network) Settings() Settings { return n.s }

// With returns the network with changed settings, such as other resources, other ratios under load or another table of
// broadcasts. Lists in the settings are the network's own: change replaces them. The graph and the groups stay.
func (n *Network) With(change func(*Settings)) (*Network, error) {
	s := n.s
	change(&s)
	other, err := build(&topology.Result{Graph: n.graph, Hierarchy: n.reported, Fit: n.fit, Warnings: n.warnings, Local: n.local}, s)
	if err != nil {
		return nil, fmt.Errorf("model: network with other settings: %w", err)
	}
	other.ways = n.ways
	return other, nil
}
