package adaptive

import (
	"math/rand/v2"
	"slices"
)

// A tree nests the hosts that have been placed in groups, while it grows. Vertices below n are
// hosts, those from n on groups. The top holds all and has no level: of its one child it is
// not known whether it is the root.
type tree struct {
	n      int
	parent []int32 // of hosts and groups; none for the top, and for what is not in the tree
	groups []group // of vertex v at v-n
}

// A group is an inner vertex. Its level indexes into the levels of latency; aboveAll is the top's.
type group struct {
	level    int
	children []int32
	hosts    []int32 // all below
}

const (
	none     = int32(-1)
	aboveAll = int(^uint(0) >> 1)
)

func newTree(n int) *tree {
	t := &tree{n: n, parent: slices.Repeat([]int32{none}, n)}
	t.grow(aboveAll, none)
	return t
}

func (t *tree) top() int32           { return int32(t.n) }
func (t *tree) isGroup(v int32) bool { return int(v) >= t.n }
func (t *tree) at(v int32) *group    { return &t.groups[int(v)-t.n] }
func (t *tree) has(host int32) bool  { return t.parent[host] != none }
func (t *tree) size(v int32) int     { return len(t.members(v)) }
func (t *tree) placed() int          { return len(t.at(t.top()).hosts) }
func (t *tree) levelOf(v int32) int  { return t.at(v).level }
func (t *tree) kids(v int32) []int32 { return t.at(v).children }

// members are the hosts below v, or v itself.
func (t *tree) members(v int32) []int32 {
	if t.isGroup(v) {
		return t.at(v).hosts
	}
	return []int32{v}
}

// grow makes a group without children.
func (t *tree) grow(level int, parent int32) int32 {
	t.parent = append(t.parent, parent)
	t.groups = append(t.groups, group{level: level})
	return int32(len(t.parent) - 1)
}

// open makes a group inside another one.
func (t *tree) open(level int, parent int32) int32 {
	w := t.grow(level, parent)
	t.at(parent).children = append(t.at(parent).children, w)
	return w
}

// add makes host x a child of group v.
func (t *tree) add(x, v int32) {
	t.parent[x] = v
	g := t.at(v)
	g.children = append(g.children, x)
	for ; v != none; v = t.parent[v] {
		t.at(v).hosts = append(t.at(v).hosts, x)
	}
}

// wrap puts a new group of the given level between v and its parent.
func (t *tree) wrap(v int32, level int) int32 {
	p := t.parent[v]
	w := t.grow(level, p)
	kids := t.kids(p)
	kids[slices.Index(kids, v)] = w
	t.parent[v] = w
	g := t.at(w)
	g.children = []int32{v}
	g.hosts = slices.Clone(t.members(v))
	return w
}

// childOf is the child of group v that holds host y; none if y has no place, or one outside v.
func (t *tree) childOf(v, y int32) int32 {
	for y != none && t.parent[y] != v {
		y = t.parent[y]
	}
	return y
}

// common is the smallest group that holds both vertices, and its children that hold each.
func (t *tree) common(a, b int32) (group, childA, childB int32) {
	depth := func(v int32) int {
		d := 0
		for ; t.parent[v] != none; v = t.parent[v] {
			d++
		}
		return d
	}
	da, db := depth(a), depth(b)
	for ; da > db; da-- {
		a = t.parent[a]
	}
	for ; db > da; db-- {
		b = t.parent[b]
	}
	for t.parent[a] != t.parent[b] {
		a, b = t.parent[a], t.parent[b]
	}
	return t.parent[a], a, b
}

// without is the tree without the given hosts. Groups that are left with one child go, and
// so does what is left of the groups of a level that changes nothing.
func (t *tree) without(hosts []int32) *tree {
	gone := make(map[int32]bool, len(hosts))
	for _, h := range hosts {
		gone[h] = true
	}
	next := newTree(t.n)
	var copied func(v, parent int32)
	copied = func(v, parent int32) {
		left := 0
		for _, c := range t.kids(v) {
			if slices.ContainsFunc(t.members(c), func(h int32) bool { return !gone[h] }) {
				left++
			}
		}
		if left > 1 && v != t.top() {
			parent = next.open(t.levelOf(v), parent)
		}
		for _, c := range t.kids(v) {
			switch {
			case t.isGroup(c):
				copied(c, parent)
			case !gone[c]:
				next.add(c, parent)
			}
		}
	}
	copied(t.top(), next.top())
	return next
}

// some is a random host below v.
func (t *tree) some(v int32, rng *rand.Rand) int32 {
	if !t.isGroup(v) {
		return v
	}
	hosts := t.at(v).hosts
	return hosts[rng.IntN(len(hosts))]
}

// all lists the groups below the top, parents first.
func (t *tree) all() []int32 {
	var list []int32
	for _, c := range t.kids(t.top()) {
		if t.isGroup(c) {
			list = append(list, c)
		}
	}
	for k := 0; k < len(list); k++ {
		for _, c := range t.kids(list[k]) {
			if t.isGroup(c) {
				list = append(list, c)
			}
		}
	}
	return list
}
