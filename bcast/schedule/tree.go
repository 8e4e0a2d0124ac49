package schedule

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// A Planner is an Algorithm in which every rank has one parent. The whole
// tree costs no more than one rank's place in it, so who needs all ranks, or
// the same rank at many sizes, asks for the tree. Of Bytes and Segment its shape may
// depend, but it solves problems of other ones, too, if less well.
type Planner interface {
	Algorithm

	// Plan returns the tree of a problem that is valid.
	Plan(p Problem) *Tree
}

// AlongOneTree tells whether each rank gets all pieces from one other rank. So it is with Planners, with algorithms that
// put them together in stages, and with those that say so by a method of this name.
func AlongOneTree(a Algorithm) bool {
	switch a := a.(type) {
	case Planner:
		return true
	case interface{ AlongOneTree() bool }:
		return a.AlongOneTree()
	case Magpie2:
		between, within := a.parts()
		return AlongOneTree(between) && AlongOneTree(within)
	case Leaders:
		return AlongOneTree(a.between())
	}
	return false
}

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

// Links returns the place of the rank. Its children are the tree's own.
func (t *Tree) Links(rank int) Links {
	return Links{t.parent[rank], t.child[t.first[rank]:t.first[rank+1]]}
}

// Ops appends the steps of a rank: each segment is received, and forwarded to
// all children before the next one.
func (l Links) Ops(dst []Op, p Problem) []Op {
	s := p.PieceBytes()
	for offset := 0; offset < p.Bytes; offset += s {
		length := min(s, p.Bytes-offset)
		if l.Parent >= 0 {
			dst = append(dst, Op{Kind: Recv, Peer: l.Parent, Offset: offset, Length: length})
		}
		for _, c := range l.Children {
			dst = append(dst, Op{Kind: Send, Peer: c, Offset: offset, Length: length})
		}
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

// rotated returns all ranks in ascending order, from the root round to it.
func rotated(ranks, root int) []int {
	order := make([]int, ranks)
	for i := range order {
		order[i] = (root + i) % ranks
	}
	return order
}

// depthFirst returns the hosts in a depth-first order of the hierarchy that
// starts at the root: its own smallest group first, then the rest of the group
// around it, and so on outwards, siblings by their lowest host. A walk along
// it enters and leaves each group at most once.
func depthFirst(h *topology.Hierarchy, root int) []int {
	order := make([]int, 0, h.Hosts())
	order = append(order, root)
	groups := h.Groups()
	done := -1 // the child of the current group that is in order already
	for g := h.Smallest(root); g >= 0; done, g = g, groups[g].Parent {
		for _, m := range members(h, g) {
			if m.host == root || m.group >= 0 && m.group == done {
				continue
			}
			order = m.appendHosts(order, h)
		}
	}
	return order
}

// A member of a group is one of its child groups, or a host directly below it.
type member struct {
	group int // index into Groups(), -1: a host
	host  int // the host, or the lowest host of the group
}

// members returns the members of group g, by lowest host.
func members(h *topology.Hierarchy, g int) []member {
	group := h.Groups()[g]
	var ms []member
	for _, x := range group.Hosts {
		if h.Smallest(x) == g {
			ms = append(ms, member{-1, x})
		}
	}
	for _, c := range group.Children {
		ms = append(ms, member{c, h.Groups()[c].Hosts[0]})
	}
	slices.SortFunc(ms, func(a, b member) int { return a.host - b.host })
	return ms
}

// appendHosts appends the hosts of the member in depth-first order.
func (m member) appendHosts(dst []int, h *topology.Hierarchy) []int {
	if m.group < 0 {
		return append(dst, m.host)
	}
	for _, c := range members(h, m.group) {
		dst = c.appendHosts(dst, h)
	}
	return dst
}
