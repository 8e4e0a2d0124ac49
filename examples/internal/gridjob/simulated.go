package gridjob

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// networkOf is what a perfect measurement of a cluster would find: its wiring, groups, latencies
// and bandwidths, with a rank on each host, in order. The wiring has to be a tree. O(hosts^2).
func networkOf(c *simnet.Cluster) (*model.Network, error) {
	if !c.Graph.IsForest() {
		return nil, errors.New("the wiring of the cluster has cycles: want a tree")
	}
	alone, err := model.FromGraph(c.Graph, c.Routing)
	if err != nil {
		return nil, err
	}
	s := &model.Settings{Routing: c.Routing, LevelBandwidth: make([]float64, len(c.Hierarchy.Levels())+1)}
	groups := c.Hierarchy.Groups()
	const long = 1 << 30
	for b := range c.Graph.Hosts() {
		for a := range b {
			level := groups[c.Hierarchy.Common(a, b)].Level
			if s.LevelBandwidth[level] == 0 {
				s.LevelBandwidth[level] = long / (alone.Time(a, b, long) - alone.Time(a, b, 0))
			}
		}
	}
	inside := make(map[int]int) // ranks of each machine so far
	for i := range c.Graph.Hosts() {
		at := model.Location{Host: c.Graph.Name(i), Core: -1}
		if c.Node != nil {
			at = model.Location{Host: fmt.Sprintf("n%d", c.Node[i]), Core: inside[c.Node[i]]}
			inside[c.Node[i]]++
		}
		s.Locations = append(s.Locations, at)
	}
	return model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}}, s)
}
