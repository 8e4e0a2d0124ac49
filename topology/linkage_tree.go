package topology

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/internal/readings"
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

// arrange puts the children of each group in ascending order of their hosts' mean reading, so that whoever
// looks at some of the leaves looks at the same ones however the hosts are numbered. O(n^2).
func (t *tree) arrange(r *readings.Symmetric) {
	mean := append(r.Means(), make([]float64, len(t.children))...)
	groups := t.groups()
	for _, v := range slices.Backward(groups) {
		for _, c := range t.kids(v) {
			mean[v] += mean[c] * float64(t.size(c)) / float64(t.size(v))
		}
		slices.SortStableFunc(t.kids(v), func(a, b int32) int { return cmp.Compare(mean[a], mean[b]) })
	}
	for _, v := range groups {
		at := t.lo[v]
		for _, c := range t.kids(v) {
			size := int32(t.size(c))
			t.lo[c], t.hi[c] = at, at+size
			at += size
			if !t.isGroup(c) {
				t.order[t.lo[c]] = c
			}
		}
	}
}
