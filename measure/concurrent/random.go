package concurrent

import (
	"math/rand/v2"

	"github.com/topocast/topocast/model"
)

// RandomPattern is a random pattern between hosts (Zhu et al. 2014, section
// 7.1; see model.RandomPattern), with the processes at its ends put on the ranks of each host,
// which take turns. In the paper each transfer has two processes of its own. Here two ranks
// have one transfer at most, in either direction. Transfers for which no two
// ranks are left are dropped, as where hosts have one rank. Messages of one pair share a
// connection, where one waits behind the other, or what arranges it does, instead of sharing
// the network. A pattern that comes out empty is drawn again. Hosts are at
// least 2, each with a rank; d is at least 1.
func RandomPattern(r *rand.Rand, ranksOf [][]int, d int, bytes int64) []model.Transfer {
	for {
		p := newPlaces(ranksOf)
		var pattern []model.Transfer
		for _, t := range model.RandomPattern(r, len(ranksOf), d, bytes) {
			if t, alone := p.place(t); alone {
				pattern = append(pattern, t)
			}
		}
		if len(pattern) > 0 {
			return pattern
		}
	}
}

// places puts transfers between hosts on ranks.
type places struct {
	ranksOf [][]int
	load    map[int]int // transfers of each rank
	joined  map[[2]int]bool
}

func newPlaces(ranksOf [][]int) *places {
	return &places{ranksOf, make(map[int]int), make(map[[2]int]bool)}
}

// place puts a transfer on two ranks that have none with each other, or if there are no such ranks, on any two. It takes
// those with the fewest transfers, of equals the first ones.
func (p *places) place(t model.Transfer) (placed model.Transfer, alone bool) {
	pair := func(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }
	least := 0
	placed = t
	placed.Src = -1
	for _, a := range p.ranksOf[t.Src] {
		for _, b := range p.ranksOf[t.Dst] {
			free, load := !p.joined[pair(a, b)], p.load[a]+p.load[b]
			if placed.Src < 0 || free && !alone || free == alone && load < least {
				placed.Src, placed.Dst, alone, least = a, b, free, load
			}
		}
	}
	if alone {
		p.joined[pair(placed.Src, placed.Dst)] = true
		p.load[placed.Src]++
		p.load[placed.Dst]++
	}
	return placed, alone
}
