package model

import (
	"fmt"
	"slices"
)

// OfJob is the network of the ranks of a job, which run at the given locations, and what makes that doubtful: every warning
// does. It is ViewTypical, but for a network that does not say where its ranks ran: that one is taken to be of
// the job's ranks in their order, of which it has to have as many.
func (n *Network) OfJob(at []Location) (*Network, []string, error) {
	if !slices.ContainsFunc(n.Hosts(), func(host string) bool { return host != "" }) {
		if n.Ranks() != len(at) {
			return nil, nil, fmt.Errorf("network of %d ranks, communicator of %d, and the network does not say where its ranks ran: "+
				"measure these ranks with topocast discover, or give the network their order", n.Ranks(), len(at))
		}
		return n, []string{"the network does not say where its ranks ran: taken to be these ranks in their order"}, nil
	}
	view, err := n.ViewTypical(at)
	if err != nil {
		return nil, nil, err
	}
	return view, slices.Clip(view.Warnings())[len(n.Warnings()):], nil
}
