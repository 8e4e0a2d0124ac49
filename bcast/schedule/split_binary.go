package schedule

// SplitBinary sends each half of the message down one half of a binary tree
// (that of Binary), so that a piece costs the ranks within it two sends of half
// as many pieces; at last each rank swaps halves with the one in the same place
// of the other half of the tree. A rank that has no such partner gets the
// other half from the root. It follows Pjesivac-Grbovic et al. 2007
// (Performance analysis of MPI collective operations, split-binary).
type SplitBinary struct{}

// Name returns "split-binary".
func (SplitBinary) Name() string { return "split-binary" }

// Prepare implements Algorithm. O(ranks log ranks).
func (SplitBinary) Prepare(p Problem) Parts {
	ranks := Line(p)
	places := Places(ranks)
	tree := ShapeBinary.tree(ranks)
	middle := p.Ranks / 2 // the last place of the first half
	single := p.Ranks%2 == 0
	return PartOf(func(rank int) Part {
		x := splitPart{Links: tree.Links(rank), partner: -1}
		switch place := places[rank]; {
		case place == 0:
			if single {
				x.partner = ranks[middle]
			}
		case place > middle:
			x.second, x.partner = true, ranks[place-middle]
		case place == middle && single:
			x.partner, x.single = p.Root, true
		default:
			x.partner = ranks[place+middle]
		}
		return x.ops
	})
}

// splitPart is the part of one rank.
type splitPart struct {
	Links
	second  bool // in the half of the tree that gets the second half of the message
	partner int  // of the root: the rank without a partner, or -1
	single  bool // is that rank
}

// ops appends the steps.
func (x splitPart) ops(dst []Op, p Problem) []Op {
	first, second := Span{0, (p.Bytes + 1) / 2}, Span{(p.Bytes + 1) / 2, p.Bytes}
	if x.Parent < 0 {
		return x.root(dst, p, first, second)
	}
	own, other := first, second
	if x.second {
		own, other = second, first
	}
	for at := own.Lo; at < own.Hi; at += p.PieceBytes() {
		dst = x.piece(dst, Span{at, min(at+p.PieceBytes(), own.Hi)})
	}
	if x.single {
		return receive(dst, x.partner, other)
	}
	return Swap(dst, x.partner, own, x.partner, other)
}

// root feeds both halves of the tree in turn.
func (x splitPart) root(dst []Op, p Problem, first, second Span) []Op {
	if len(x.Children) == 0 {
		return dst
	}
	left := [2]Span{first, second}
	if len(x.Children) < 2 {
		left[1].Lo = left[1].Hi
	}
	for left[0].Lo < left[0].Hi || left[1].Lo < left[1].Hi {
		for i, c := range x.Children {
			piece := Span{left[i].Lo, min(left[i].Lo+p.PieceBytes(), left[i].Hi)}
			dst = send(dst, c, piece)
			left[i].Lo = piece.Hi
		}
	}
	if x.partner >= 0 {
		dst = send(dst, x.partner, second)
	}
	return dst
}
