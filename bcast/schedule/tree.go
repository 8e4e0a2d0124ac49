package schedule

import "slices"

// A Tree says for every rank who sends to it, and to whom it forwards.
type Tree struct {
	parent []int // -1 for the root
	first  []int // children[first[r]:first[r+1]] are those of rank r
	child  []int // in the order in which they are served
}

// Links are the place of one rank in a tree.
type Links struct {
	Parent   int // -1: none
	Children []int
}

// Links returns the place of the rank.
func (t *Tree) Links(rank int) Links {
	return Links{t.parent[rank], slices.Clone(t.child[t.first[rank]:t.first[rank+1]])}
}

// Of implements Parts.
func (t *Tree) Of(rank int) Part { return t.Links(rank).ops }

// ops appends the steps of a rank: each segment is received, and forwarded to
// all children before the next one.
func (l Links) ops(dst []Op, p Problem) []Op {
	for at, s := 0, p.PieceBytes(); at < p.Bytes; at += s {
		dst = l.piece(dst, Span{at, min(at+s, p.Bytes)})
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
	t := &Tree{parent: make([]int, ranks), first: make([]int, ranks+1), child: make([]int, len(edges))}
	for r := range t.parent {
		t.parent[r] = -1
	}
	for _, e := range edges {
		t.parent[e.To] = e.From
		t.first[e.From+1]++
	}
	for r := range ranks {
		t.first[r+1] += t.first[r]
	}
	next := slices.Clone(t.first)
	for _, e := range edges {
		t.child[next[e.From]] = e.To
		next[e.From]++
	}
	return t
}
