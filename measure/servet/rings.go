package servet

import (
	"math/bits"
	"slices"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A step is what is measured at once. The first Hosts hosts that have PerHost ranks take part. PerHost ranks of each send
// to their likes on the host that is Apart hosts further in the ring.
type step struct {
	At      int `json:"at"` // the distance, or the processes per host: which one varies
	PerHost int `json:"per_host"`
	Hosts   int `json:"hosts"`
	Apart   int `json:"apart"`
}

// A plan is what all ranks need, as it travels.
type plan struct {
	Bytes       int     `json:"bytes"`
	Repetitions int     `json:"repetitions"`
	Ranks       [][]int `json:"ranks"` // of each host, those side by side that share most
	Steps       []step  `json:"steps"` // the reference first
	Untouched   bool    `json:"untouched,omitempty"`
}

// ranksOf lists the ranks of each host by what they share and by their cores, the hosts in the order of their first
// ranks; with the hosts' names. Most limits the hosts, 0: all.
func ranksOf(places []mpi.Place, shared []model.Resource, most int) (ranks [][]int, names []string) {
	hosts, names := mpi.NumberHosts(places)
	ranks = make([][]int, len(names))
	for rank, i := range hosts {
		ranks[i] = append(ranks[i], rank)
	}
	for _, own := range ranks {
		model.SideBySide(own, shared, func(rank int) int { return places[rank].Core })
	}
	if most > 0 && most < len(ranks) {
		ranks, names = ranks[:most], names[:most]
	}
	return ranks, names
}

// A part is what one rank does in a step.
type part struct {
	from, to int // ranks; -1: it takes no part
}

// parts are those of a rank in all steps. The senders of a host are spread evenly over its
// ranks, as placement.Servet takes them to be. O(ranks + steps * log hosts).
func (p *plan) parts(rank int) []part {
	host, core := p.locate(rank)
	rings := make(map[int][]int) // by PerHost, the hosts with so many ranks
	parts := make([]part, len(p.Steps))
	for i, s := range p.Steps {
		parts[i] = part{from: -1, to: -1}
		ring, known := rings[s.PerHost]
		if !known {
			for h, ranks := range p.Ranks {
				if len(ranks) >= s.PerHost {
					ring = append(ring, h)
				}
			}
			rings[s.PerHost] = ring
		}
		place, in := slices.BinarySearch(ring, host)
		if !in || place >= s.Hosts {
			continue
		}
		sender := func(place, slot int) int {
			ranks := p.Ranks[ring[(place+s.Hosts)%s.Hosts]]
			return ranks[slot*len(ranks)/s.PerHost]
		}
		cores := len(p.Ranks[host])
		slot := (core*s.PerHost + cores - 1) / cores // the first that is not on a lower core
		if slot < s.PerHost && sender(place, slot) == rank {
			parts[i] = part{from: sender(place-s.Apart, slot), to: sender(place+s.Apart, slot)}
		}
	}
	return parts
}

// locate finds a rank: its host, and its number there; -1 if its host takes no part.
func (p *plan) locate(rank int) (host, core int) {
	for h, ranks := range p.Ranks {
		if core := slices.Index(ranks, rank); core >= 0 {
			return h, core
		}
	}
	return -1, -1
}

// coarseFirst orders the steps 0..n-1 so that a run that is cut short has seen all of the range:
// the first one, the last one, and the others as one halves what lies between
// (van der Corput 1935).
func coarseFirst(n int) []int {
	order := make([]int, 0, n)
	if n == 0 {
		return order
	}
	width := bits.Len(uint(n - 1))
	for i := range 1 << width {
		at := int(bits.Reverse(uint(i)) >> (bits.UintSize - width))
		if at < n-1 || at == 0 {
			order = append(order, at)
		}
	}
	if n > 1 {
		order = slices.Insert(order, 1, n-1)
	}
	return order
}
