package bcast

import (
	"fmt"

	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Locations is collective: it returns where all ranks of the communicator run, in the order of ranks and the same on all
// of them. By it a network of other ranks becomes that of this job:
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
	return decisions.Locations(places), nil
}
