package bcast

import (
	"encoding/binary"
	"errors"
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

// appendLocations writes locations for decodeLocations. Names of hosts are much
// alike: each is how many bytes it shares with the one before, and the rest.
func appendLocations(text []byte, at []model.Location) []byte {
	last := ""
	for _, where := range at {
		shared := 0
		for shared < min(len(last), len(where.Host)) && last[shared] == where.Host[shared] {
			shared++
		}
		last = where.Host
		text = binary.AppendUvarint(text, uint64(shared))
		text = binary.AppendUvarint(text, uint64(len(last)-shared))
		text = append(text, last[shared:]...)
		text = binary.AppendVarint(text, int64(where.Core))
	}
	return text
}

var errLocations = errors.New("bcast: new: a message that is none of locations")

func decodeLocations(text []byte) ([]model.Location, error) {
	var at []model.Location
	last := ""
	for len(text) > 0 {
		shared, n := binary.Uvarint(text)
		if n <= 0 || shared > uint64(len(last)) {
			return nil, errLocations
		}
		text = text[n:]
		rest, n := binary.Uvarint(text)
		if n <= 0 || rest > uint64(len(text)-n) {
			return nil, errLocations
		}
		text = text[n:]
		if rest > 0 || shared < uint64(len(last)) {
			last = last[:shared] + string(text[:rest])
		}
		text = text[rest:]
		core, n := binary.Varint(text)
		if n <= 0 {
			return nil, errLocations
		}
		text = text[n:]
		at = append(at, model.Location{Host: last, Core: int(core)})
	}
	return at, nil
}

// A fit says how a network serves ranks at other places than it was measured on.
type fit int

const (
	fitNone    fit = iota // there is no network
	fitAsIs               // rank by rank
	fitView               // model.Network.View
	fitTypical            // model.Network.ViewTypical
)

// fitting tells how a network serves the ranks at the given locations, and what
// makes that doubtful: every warning does. O(ranks).
func fitting(n *model.Network, at []model.Location) (fit, []string, error) {
	if !located(n) {
		if n.Ranks() != len(at) {
			return 0, nil, fmt.Errorf("bcast: new: network of %d ranks, communicator of %d, and the network does not say where its ranks ran: "+
				"measure these ranks with topocast discover, or give the network their order", n.Ranks(), len(at))
		}
		return fitAsIs, []string{"the network does not say where its ranks ran: taken to be these ranks in their order"}, nil
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
		return fitAsIs, nil, nil
	}
	var unknown, crowded, moved hosts
	left := make(map[string]int, len(onHost))
	for _, where := range at {
		count, known := onHost[where.Host]
		if !known {
			unknown.add(where.Host)
			continue
		}
		if left[where.Host]++; left[where.Host] > count {
			crowded.add(where.Host)
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
	if crowded.names != nil {
		warnings = append(warnings, fmt.Sprintf("hosts with more ranks than the network has there, the others taken to be like the first: %v", crowded))
	}
	if warnings != nil {
		return fitTypical, warnings, nil
	}
	if moved.names != nil {
		warnings = append(warnings, fmt.Sprintf("hosts with ranks on other cores than were measured, taken in their order: %v", moved))
	}
	return fitView, warnings, nil
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

// view is the network of the ranks at the given locations.
func (f fit) view(n *model.Network, at []model.Location) (*model.Network, error) {
	switch f {
	case fitView:
		return n.View(at)
	case fitTypical:
		return n.ViewTypical(at)
	}
	return n, nil
}
