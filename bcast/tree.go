package bcast

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// A treePlanner is an Algorithm in which every rank has one parent. The whole
// tree costs no more than one rank's place in it, so who needs all ranks, or
// the same rank at many sizes, asks for the tree. Its shape does not depend on
// Bytes and Segment.
type treePlanner interface {
	Algorithm
	tree(p Problem) *tree
}

// A tree says for every rank who sends to it, and to whom it forwards.
type tree struct {
	parent []int // -1 for the root
	first  []int // children[first[r]:first[r+1]] are those of rank r
	child  []int // in the order in which they are served
}

// links are the place of one rank in a tree.
type links struct {
	parent   int // -1: none
	children []int
}

func (t *tree) links(rank int) links {
	return links{t.parent[rank], t.child[t.first[rank]:t.first[rank+1]]}
}

// ops appends the steps of a rank: each segment is received, and forwarded to
// all children before the next one.
func (l links) ops(dst []Op, p Problem) []Op {
	s := p.segment()
	for offset := 0; offset < p.Bytes; offset += s {
		length := min(s, p.Bytes-offset)
		if l.parent >= 0 {
			dst = append(dst, Op{Recv, l.parent, offset, length})
		}
		for _, c := range l.children {
			dst = append(dst, Op{Send, c, offset, length})
		}
	}
	return dst
}

// An edge goes from a rank to one that it sends to.
type edge struct{ from, to int }

// newTree makes a tree of its edges; the children of a rank keep their order.
func newTree(ranks int, edges []edge) *tree {
	t := &tree{parent: make([]int, ranks), first: make([]int, ranks+1), child: make([]int, len(edges))}
	for r := range t.parent {
		t.parent[r] = -1
	}
	for _, e := range edges {
		t.parent[e.to] = e.from
		t.first[e.from+1]++
	}
	for r := range ranks {
		t.first[r+1] += t.first[r]
	}
	next := slices.Clone(t.first)
	for _, e := range edges {
		t.child[next[e.from]] = e.to
		next[e.from]++
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
