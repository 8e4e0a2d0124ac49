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
	At      int // the distance, or the processes per host: which one varies
	PerHost int
	Hosts   int
	Apart   int
}

// transfers are the messages of a step between ranks of the given hosts. The senders of a host are spread evenly over
// its ranks, as placement.Servet takes them to be.
func (s *step) transfers(ranks [][]int, bytes int) (all []model.Transfer) {
	var ring [][]int
	for _, own := range ranks {
		if len(own) >= s.PerHost && len(ring) < s.Hosts {
			ring = append(ring, own)
		}
	}
	for place, own := range ring {
		to := ring[(place+s.Apart)%len(ring)]
		for slot := range s.PerHost {
			all = append(all, model.Transfer{Src: own[slot*len(own)/s.PerHost], Dst: to[slot*len(to)/s.PerHost], Bytes: int64(bytes)})
		}
	}
	return all
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
