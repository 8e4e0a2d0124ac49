package model

import "github.com/topocast/topocast/topology"

// Routing says which of equally short routes concurrent transfers take.
func (n *Network) Routing() topology.RouteChoice { return n.routing }
