package adaptive

import (
	"cmp"
	"slices"
)

// hints are which hosts are said to be near each other: of one group, as the ranks of a node, or next to each other in
// an order, as that of names. A host reads those first. Nothing else follows from a hint: if it is
// wrong, the reading says so, and the host goes on from there.
type hints struct {
	label []int
	mates map[int][]int32
	place []int   // of each host in the order; nil: there is none
	order []int32 // hosts by place
}

func newHints(s *Settings, hosts int) *hints {
	h := &hints{label: s.Hints, mates: make(map[int][]int32), place: s.Order}
	for x, l := range s.Hints {
		if l >= 0 {
			h.mates[l] = append(h.mates[l], int32(x))
		}
	}
	if h.place != nil {
		h.order = make([]int32, hosts)
		for x := range h.order {
			h.order[x] = int32(x)
		}
		slices.SortStableFunc(h.order, func(a, b int32) int { return cmp.Compare(h.place[a], h.place[b]) })
		h.place = make([]int, hosts) // without gaps
		for at, x := range h.order {
			h.place[x] = at
		}
	}
	return h
}

// has tells whether anybody is said to be of the group of x.
func (h *hints) has(x int32) bool {
	return len(h.label) > 0 && h.label[x] >= 0 && len(h.mates[h.label[x]]) > 1
}

// mate is a free host that is said to be of the group of x, none if all are busy; placed is whether there is one
// in the tree.
func (h *hints) mate(x int32, in *inserter) (mate int32, placed bool) {
	of := h.mates[h.label[x]]
	from := in.rng.IntN(len(of))
	for k := range of {
		y := of[(from+k)%len(of)]
		if y == x || !in.tree.has(y) {
			continue
		}
		placed = true
		if in.ledger.free(y) {
			return y, true
		}
	}
	return none, placed
}

// farthest is how many places in the order a host looks for one to read: of those beyond it does not matter which.
const farthest = 64

// next is the host next to that of t in the order that may answer it, in a child of its group that is not closed; none if
// there is none, or no order.
func (h *hints) next(t *task, in *inserter, closed map[int32]bool) int32 {
	if h.order == nil {
		return none
	}
	at := h.place[t.x]
	for off := 1; off <= farthest; off++ {
		for _, k := range [...]int{at - off, at + off} {
			if k < 0 || k >= len(h.order) || !in.ledger.free(h.order[k]) {
				continue
			}
			if child := in.tree.childOf(t.v, h.order[k]); child != none && !closed[child] {
				return h.order[k]
			}
		}
	}
	return none
}
