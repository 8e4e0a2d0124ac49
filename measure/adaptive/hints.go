package adaptive

// hints are which hosts are said to be of one group: the ranks of a node. A host
// reads one of them first. Nothing else follows from a hint: if it is wrong, the reading says so, and the
// host goes on from there.
type hints struct {
	label []int
	mates map[int][]int32
}

func newHints(label []int) *hints {
	h := &hints{label: label, mates: make(map[int][]int32)}
	for x, l := range label {
		if l >= 0 {
			h.mates[l] = append(h.mates[l], int32(x))
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
