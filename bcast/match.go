package bcast

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Locations is collective: it returns where all ranks of the communicator run, in the order of ranks and the same on all
// of them. By it a network of other
// ranks becomes that of this job:
//
//	locations, err := bcast.Locations(comm) // collective
//	...
//	network, err = network.View(locations)
//
// New does this by itself, with the places on rank 0 alone. The messages are those of mpi.Places.
func Locations(comm mpi.Communicator) ([]model.Location, error) {
	places, err := mpi.Places(comm)
	if err != nil {
		return nil, fmt.Errorf("bcast: locations: %w", err)
	}
	return locations(places), nil
}

func locations(places []mpi.Place) []model.Location {
	at := make([]model.Location, len(places))
	for i, p := range places {
		at[i] = model.Location{Host: p.Host, Core: p.Core}
	}
	return at
}

// networkOf is the network of the ranks at the given locations (model.Network.ViewTypical), and what makes that
// doubtful: every warning does.
func networkOf(n *model.Network, at []model.Location) (*model.Network, []string, error) {
	if !slices.ContainsFunc(n.Hosts(), func(host string) bool { return host != "" }) {
		if n.Ranks() != len(at) {
			return nil, nil, fmt.Errorf("bcast: new: network of %d ranks, communicator of %d, and the network does not say where its ranks ran: "+
				"measure these ranks with topocast discover, or give the network their order", n.Ranks(), len(at))
		}
		return n, []string{"the network does not say where its ranks ran: taken to be these ranks in their order"}, nil
	}
	view, err := n.ViewTypical(at)
	if err != nil {
		return nil, nil, fmt.Errorf("bcast: new: %w", err)
	}
	return view, slices.Clip(view.Warnings())[len(n.Warnings()):], nil
}
