package bcast

import (
	"fmt"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Locations is collective: it tells where all ranks of the communicator run, in
// the order of ranks and the same on all of them, so that a network of other
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

// networkOf is the network of the ranks at the given locations, and what makes that doubtful: every warning does. The
// network is taken as it is, or by model.Network.View, or with typical parameters by model.Network.ViewTypical.
func networkOf(n *model.Network, at []model.Location) (*model.Network, []string, error) {
	if !located(n) {
		if n.Ranks() != len(at) {
			return nil, nil, fmt.Errorf("bcast: new: network of %d ranks, communicator of %d, and the network does not say where its ranks ran: "+
				"measure these ranks with topocast discover, or give the network their order", n.Ranks(), len(at))
		}
		return n, []string{"the network does not say where its ranks ran: taken to be these ranks in their order"}, nil
	}
	measured := make(map[model.Location]int, n.Ranks())
	onHost := make(map[string]int)
	same := n.Ranks() == len(at)
	for r := range n.Ranks() {
		where := n.Location(r)
		measured[where]++
		onHost[where.Host]++
		same = same && where == at[r]
	}
	if same {
		return n, nil, nil
	}
	var unknown, full, moved hosts
	left := make(map[string]int, len(onHost))
	for _, where := range at {
		count, known := onHost[where.Host]
		if !known {
			unknown.add(where.Host)
			continue
		}
		if left[where.Host]++; left[where.Host] > count {
			full.add(where.Host)
		}
		// The order of the ranks of one host is a guess unless each has its core.
		if measured[where]--; measured[where] < 0 && count > 1 {
			moved.add(where.Host)
		}
	}
	var warnings []string
	if unknown.names != nil {
		warnings = append(warnings, fmt.Sprintf("hosts that the network does not know, taken to be far from all others: %v", unknown))
	}
	if full.names != nil {
		warnings = append(warnings, fmt.Sprintf("hosts with more ranks than the network has there, the others taken to be like the first: %v", full))
	}
	if warnings != nil {
		view, err := n.ViewTypical(at)
		return view, warnings, newFailed(err)
	}
	if moved.names != nil {
		warnings = append(warnings, fmt.Sprintf("hosts with ranks on other cores than were measured, taken in their order: %v", moved))
	}
	view, err := n.View(at)
	return view, warnings, newFailed(err)
}

// newFailed is an error of New, if it is one.
func newFailed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("bcast: new: %w", err)
}

// located tells whether the network says where any of its ranks ran.
func located(n *model.Network) bool {
	for _, host := range n.Hosts() {
		if host != "" {
			return true
		}
	}
	return false
}

// hosts are names of hosts, each once, in the order in which they were added.
type hosts struct {
	names []string
	seen  map[string]bool
}

func (h *hosts) add(name string) {
	if h.seen == nil {
		h.seen = make(map[string]bool)
	}
	if !h.seen[name] {
		h.seen[name] = true
		h.names = append(h.names, name)
	}
}

func (h hosts) String() string {
	const shown = 8
	return words.Few(h.names, shown)
}
