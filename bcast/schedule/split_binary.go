package schedule

// SplitBinary sends each half of the message down one half of a binary tree (that of Binary). A piece costs the ranks
// within it two sends of half as many pieces. At last each rank swaps halves with the one in the same place
// of the other half of the tree. A rank that has no such partner gets the
// other half from the root. It follows Pjesivac-Grbovic et al. 2007
// (Performance analysis of MPI collective operations, split-binary).
type SplitBinary struct{}

// Name returns "split-binary".
func (SplitBinary) Name() string { return "split-binary" }

// Prepare implements Algorithm. O(ranks log ranks).
func (SplitBinary) Prepare(p Problem) Parts {
	ranks := Line(p)
	tree := ShapeBinary.tree(ranks)
	return ByPlace(ranks, func(place int) Part {
		x := splitPart{tree.Links(ranks[place]), ranks, place}
		if place == 0 {
			return x.root
		}
		return x.ops
	})
}

// splitPart is the part of one rank.
type splitPart struct {
	Links
	ranks []int // by place
	place int
}

// middle is the last place of the first half. If the number of ranks is even it has no partner.
func (x splitPart) middle() int { return len(x.ranks) / 2 }

// isSingle tells whether a place has no partner in the other half of the tree.
func (x splitPart) isSingle(place int) bool { return place == x.middle() && len(x.ranks)%2 == 0 }

// ops appends the steps of a rank but the root.
func (x splitPart) ops(dst []Op, p Problem) []Op {
	own, other := dealt(p.Bytes, 2, 0), dealt(p.Bytes, 2, 1)
	partner := x.place + x.middle()
	if x.place > x.middle() {
		own, other = other, own
		partner = x.place - x.middle()
	}
	dst = x.part(dst, p, own)
	if x.isSingle(x.place) {
		return receive(dst, x.ranks[0], other)
	}
	return Swap(dst, x.ranks[partner], own, x.ranks[partner], other)
}

// root appends the steps of the root, which feeds both halves of the tree in turn.
func (x splitPart) root(dst []Op, p Problem) []Op {
	for k := range p.piecesOf(dealt(p.Bytes, 2, 0)) { // the longer half
		for i, c := range x.Children {
			dst = send(dst, c, p.piece(dealt(p.Bytes, 2, i), k))
		}
	}
	if len(x.ranks) > 1 && x.isSingle(x.middle()) {
		dst = send(dst, x.ranks[x.middle()], dealt(p.Bytes, 2, 1))
	}
	return dst
}
