package schedule

// A Tree says for every rank who sends to it, and to whom it forwards.
type Tree struct{ links []Links }

// Links are the place of one rank in a tree.
type Links struct {
	Parent   int   // -1: none
	Children []int // in the order in which they are served
}

// Links returns the place of the rank, which is not to be changed.
func (t *Tree) Links(rank int) Links { return t.links[rank] }

// Of implements Parts.
func (t *Tree) Of(rank int) Part { return t.links[rank].ops }

// ops appends the steps of a rank: each segment is received, and forwarded to
// all children before the next one.
func (l Links) ops(dst []Op, p Problem) []Op {
	return l.part(dst, p, p.whole())
}

// part appends the steps for a part of the message.
func (l Links) part(dst []Op, p Problem, part Span) []Op {
	for k := range p.piecesOf(part) {
		dst = l.piece(dst, p.piece(part, k))
	}
	return dst
}

// piece appends the steps for one segment.
func (l Links) piece(dst []Op, piece Span) []Op {
	if l.Parent >= 0 {
		dst = receive(dst, l.Parent, piece)
	}
	for _, c := range l.Children {
		dst = send(dst, c, piece)
	}
	return dst
}

// An Edge goes from a rank to one that it sends to.
type Edge struct{ From, To int }

// NewTree makes a tree of its edges; the children of a rank keep their order.
func NewTree(ranks int, edges []Edge) *Tree {
	t := &Tree{make([]Links, ranks)}
	for r := range t.links {
		t.links[r].Parent = -1
	}
	for _, e := range edges {
		t.links[e.To].Parent = e.From
		t.links[e.From].Children = append(t.links[e.From].Children, e.To)
	}
	return t
}
