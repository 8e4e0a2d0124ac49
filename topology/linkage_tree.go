package topology

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/internal/nnchain"
)

// A tree nests n hosts in groups while Linkage works on it. Vertices below n
// are the hosts, those from n on the groups; a group's number is above those
// of its children. Groups come and go by splicing; the order of the leaves
// stays, so every group is a range of it.
type tree struct {
	n        int
	root     int32
	parent   []int32   // -1: the root, or a group that was taken out
	children [][]int32 // of group v at v-n, ascending by lo; nil: taken out
	level    []float64 // of group v at v-n: ln of the typical latency between its children
	weight   []float64 // of group v at v-n: number of pairs it joins
	order    []int32   // hosts by depth-first search
	lo, hi   []int32   // vertex v holds order[lo[v]:hi[v]]
}

// newTree is the tree of n hosts whose vertices have the given parents, -1 for the root. Levels
// and weights are zero. Groups may be numbered in any order, but then groups does not
// list parents first.
func newTree(n int, parent []int32) *tree {
	t := &tree{
		n: n, parent: parent,
		children: make([][]int32, len(parent)-n),
		level:    make([]float64, len(parent)-n),
		weight:   make([]float64, len(parent)-n),
		order:    make([]int32, n),
		lo:       make([]int32, len(parent)),
		hi:       make([]int32, len(parent)),
	}
	t.root = int32(slices.Index(parent, -1))
	t.adopt()
	t.lay()
	return t
}

// dendrogram is the binary tree of the given merges.
func dendrogram(merges []nnchain.Merge, n int) *tree {
	vertices := n + len(merges)
	t := &tree{
		n: n, root: int32(vertices - 1),
		parent:   make([]int32, vertices),
		children: make([][]int32, len(merges)),
		level:    make([]float64, len(merges)),
		weight:   make([]float64, len(merges)),
		order:    make([]int32, n),
		lo:       make([]int32, vertices),
		hi:       make([]int32, vertices),
	}
	t.parent[t.root] = -1
	for k, m := range merges {
		t.children[k] = []int32{m.A, m.B}
		t.parent[m.A], t.parent[m.B] = int32(n+k), int32(n+k)
	}
	t.lay()
	for k, m := range merges {
		t.weight[k] = float64(t.size(m.A)) * float64(t.size(m.B))
	}
	return t
}

func (t *tree) isGroup(v int32) bool      { return int(v) >= t.n }
func (t *tree) kids(v int32) []int32      { return t.children[int(v)-t.n] }
func (t *tree) size(v int32) int          { return int(t.hi[v] - t.lo[v]) }
func (t *tree) leaves(v int32) []int32    { return t.order[t.lo[v]:t.hi[v]] }
func (t *tree) alive(v int32) bool        { return v == t.root || t.parent[v] >= 0 }
func (t *tree) levelOf(v int32) float64   { return t.level[int(v)-t.n] }
func (t *tree) weightOf(v int32) float64  { return t.weight[int(v)-t.n] }
func (t *tree) hostsOnly(v int32) bool    { return !slices.ContainsFunc(t.kids(v), t.isGroup) }
func (t *tree) groupChildren(v int32) int { return len(t.kids(v)) - t.leafChildren(v) }

func (t *tree) leafChildren(v int32) int {
	count := 0
	for _, c := range t.kids(v) {
		if !t.isGroup(c) {
			count++
		}
	}
	return count
}

// groups returns the groups that are in, every parent before its children;
// the root comes first.
func (t *tree) groups() []int32 {
	var in []int32
	for v := int32(t.n + len(t.children) - 1); v >= int32(t.n); v-- {
		if t.alive(v) {
			in = append(in, v)
		}
	}
	return in
}

// splice takes group v out: its children become those of its parent.
func (t *tree) splice(v int32) {
	p := t.parent[v]
	kids := t.kids(p)
	at := slices.Index(kids, v)
	t.children[int(p)-t.n] = slices.Replace(kids, at, at+1, t.kids(v)...)
	for _, c := range t.kids(v) {
		t.parent[c] = p
	}
	t.parent[v] = -1
	t.children[int(v)-t.n] = nil
}

// arrange puts the children of each group in ascending order of their hosts' mean reading, given per host, so
// that whoever looks at some of the leaves looks at the same ones however the hosts are
// numbered. O(n log n).
func (t *tree) arrange(mean []float64) {
	mean = append(slices.Clone(mean), make([]float64, len(t.children))...)
	groups := t.groups()
	for _, v := range slices.Backward(groups) {
		for _, c := range t.kids(v) {
			mean[v] += mean[c] * float64(t.size(c)) / float64(t.size(v))
		}
		slices.SortStableFunc(t.kids(v), func(a, b int32) int { return cmp.Compare(mean[a], mean[b]) })
	}
	t.lay()
}

// adopt sets the children from the parents, ascending by number.
func (t *tree) adopt() {
	for k := range t.children {
		t.children[k] = nil
	}
	for v, p := range t.parent {
		if p >= 0 {
			t.children[int(p)-t.n] = append(t.children[int(p)-t.n], int32(v))
		}
	}
}

// lay puts the leaves in order by a depth-first search.
func (t *tree) lay() {
	next := int32(0)
	var visit func(v int32)
	visit = func(v int32) {
		t.lo[v] = next
		if !t.isGroup(v) {
			t.order[next] = v
			next++
		} else {
			for _, c := range t.kids(v) {
				visit(c)
			}
		}
		t.hi[v] = next
	}
	visit(t.root)
}

// rebuild makes the tree anew from the parents; groups that are left with one child or none go.
func (t *tree) rebuild() {
	root := t.root
	for again := true; again; {
		again = false
		t.adopt()
		for k, kids := range t.children {
			v := int32(t.n + k)
			if v == root && len(kids) == 1 { // its only child is the root, then
				if v = kids[0]; !t.isGroup(v) {
					continue
				}
			} else if v == root || t.parent[v] < 0 || len(kids) >= 2 {
				continue
			}
			t.splice(v) // at once: of a chain of such groups each takes up what the one below left
			again = true
		}
	}
	t.lay()
	for k, kids := range t.children {
		if kids == nil {
			continue
		}
		n := float64(t.size(int32(t.n + k)))
		pairs := n * n
		for _, c := range kids {
			pairs -= float64(t.size(c)) * float64(t.size(c))
		}
		t.weight[k] = pairs / 2
	}
}

// clone is a copy whose groups may go; the order of the leaves is shared.
func (t *tree) clone() *tree {
	c := *t
	c.parent = append([]int32(nil), t.parent...)
	c.level = append([]float64(nil), t.level...)
	c.weight = append([]float64(nil), t.weight...)
	c.children = make([][]int32, len(t.children))
	for k, kids := range t.children {
		c.children[k] = append([]int32(nil), kids...)
	}
	return &c
}
