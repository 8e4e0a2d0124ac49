package model

import (
	"fmt"

	"github.com/topocast/topocast/topology"
)

// WithDegradation is the network with other ratios of messages under load, nil for none, as they were
// measured by a job on its hosts in their order.
func (n *Network) WithDegradation(d *Degradation) (*Network, error) {
	return n.with(func(s *Settings) { s.Degradation = d })
}

// WithResources is the network with other resources inside its hosts, of its ranks. Levels whose kind was not known
// get it from them, as in New.
func (n *Network) WithResources(resources []Resource) (*Network, error) {
	return n.with(func(s *Settings) { s.Resources = resources })
}

// Settings are those that make this network of its graph and its reported hierarchy. Lists in them are the network's own.
func (n *Network) Settings() Settings {
	return Settings{
		Levels: n.levels, Pairs: n.pairs.list(), HostPairs: n.hostPairs.list(), Locations: n.locations,
		MemoryBandwidth: n.memory, Routing: n.routing, RTTBias: n.rttBias, Links: n.links, MeasuredOverPredicted: n.ratios,
		Degradation: n.degradation, Resources: n.resources, BcastTable: n.bcastTable, Measured: n.measured,
	}
}

// with is the network made anew of other settings.
func (n *Network) with(change func(*Settings)) (*Network, error) {
	s := n.Settings()
	change(&s)
	other, err := newNetwork(&topology.Result{Graph: n.graph, Hierarchy: n.reported, Fit: n.fit, Warnings: n.warnings, Local: n.local}, &s)
	if err != nil {
		return nil, fmt.Errorf("model: network with other settings: %w", err)
	}
	other.ways = n.ways
	return other, nil
}
