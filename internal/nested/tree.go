package nested

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/topology"
)

// A Tree nests n hosts in groups while linkage.Robust works on it. Vertices below n
// are the hosts, those from n on the groups; a group's number is above those
// of its children. Groups come and go by splicing; the order of the leaves
// stays, so every group is a range of it.
type Tree struct {
	N        int
	Root     int32
	Parent   []int32   // -1: the root, or a group that was taken out
	Children [][]int32 // of group v at v-n, ascending by Lo; nil: taken out
	Level    []float64 // of group v at v-n: ln of the typical latency between its children
	Weight   []float64 // of group v at v-n: number of pairs it joins
	Order    []int32   // hosts by depth-first search
	Lo, Hi   []int32   // vertex v holds Order[Lo[v]:Hi[v]]
}

// New is the tree of n hosts whose vertices have the given parents, -1 for the root. Levels
// are zero. Groups may be numbered in any order, but then Groups does not list parents first.
func New(n int, parent []int32) *Tree {
	t := &Tree{
		N: n, Parent: parent,
		Children: make([][]int32, len(parent)-n),
		Level:    make([]float64, len(parent)-n),
		Weight:   make([]float64, len(parent)-n),
		Order:    make([]int32, n),
		Lo:       make([]int32, len(parent)),
		Hi:       make([]int32, len(parent)),
	}
	t.Root = int32(slices.Index(parent, -1))
	t.adopt()
	t.lay()
	t.weigh()
	return t
}

// Dendrogram is the binary tree of the given merges, with their heights as levels.
func Dendrogram(merges []nnchain.Merge, n int) *Tree {
	parent := make([]int32, n+len(merges))
	parent[len(parent)-1] = -1
	for k, m := range merges {
		parent[m.A], parent[m.B] = int32(n+k), int32(n+k)
	}
	t := New(n, parent)
	for k, m := range merges {
		t.Level[k] = math.Log(float64(m.Height))
	}
	return t
}

// Of is the tree of a hierarchy, with its latencies as levels.
func Of(h *topology.Hierarchy) *Tree {
	n, groups := h.Hosts(), h.Groups()
	last := len(groups) - 1
	vertex := func(group int) int32 { return int32(n + last - group) } // parents come first there, last here
	parent := make([]int32, n+len(groups))
	for i := range n {
		parent[i] = vertex(h.Smallest(i))
	}
	for g := range groups {
		parent[vertex(g)] = vertex(groups[g].Parent)
	}
	parent[vertex(0)] = -1
	t := New(n, parent)
	for g := range groups {
		t.Level[last-g] = math.Log(groups[g].Latency)
	}
	return t
}

func (t *Tree) IsGroup(v int32) bool     { return int(v) >= t.N }
func (t *Tree) Kids(v int32) []int32     { return t.Children[int(v)-t.N] }
func (t *Tree) Size(v int32) int         { return int(t.Hi[v] - t.Lo[v]) }
func (t *Tree) Leaves(v int32) []int32   { return t.Order[t.Lo[v]:t.Hi[v]] }
func (t *Tree) alive(v int32) bool       { return v == t.Root || t.Parent[v] >= 0 }
func (t *Tree) LevelOf(v int32) float64  { return t.Level[int(v)-t.N] }
func (t *Tree) WeightOf(v int32) float64 { return t.Weight[int(v)-t.N] }
func (t *Tree) HostsOnly(v int32) bool   { return !slices.ContainsFunc(t.Kids(v), t.IsGroup) }

// Groups returns the groups that are in, every parent before its children;
// the root comes first.
func (t *Tree) Groups() []int32 {
	var in []int32
	for v := int32(t.N + len(t.Children) - 1); v >= int32(t.N); v-- {
		if t.alive(v) {
			in = append(in, v)
		}
	}
	return in
}

// Splice takes group v out: its children become those of its parent.
func (t *Tree) Splice(v int32) {
	p := t.Parent[v]
	kids := t.Kids(p)
	at := slices.Index(kids, v)
	t.Children[int(p)-t.N] = slices.Replace(kids, at, at+1, t.Kids(v)...)
	for _, c := range t.Kids(v) {
		t.Parent[c] = p
	}
	t.Parent[v] = -1
	t.Children[int(v)-t.N] = nil
}

// Arrange puts the children of each group in ascending order of their hosts' mean measurement, given per host.
// Whoever looks at some of the leaves then looks at the same ones, however the hosts are
// numbered. O(n log n).
func (t *Tree) Arrange(mean []float64) {
	mean = append(slices.Clone(mean), make([]float64, len(t.Children))...)
	groups := t.Groups()
	for _, v := range slices.Backward(groups) {
		for _, c := range t.Kids(v) {
			mean[v] += mean[c] * float64(t.Size(c)) / float64(t.Size(v))
		}
		slices.SortStableFunc(t.Kids(v), func(a, b int32) int { return cmp.Compare(mean[a], mean[b]) })
	}
	t.lay()
}

// adopt sets the children from the parents, ascending by number.
func (t *Tree) adopt() {
	for k := range t.Children {
		t.Children[k] = nil
	}
	for v, p := range t.Parent {
		if p >= 0 {
			t.Children[int(p)-t.N] = append(t.Children[int(p)-t.N], int32(v))
		}
	}
}

// lay puts the leaves in order by a depth-first search.
func (t *Tree) lay() {
	next := int32(0)
	var visit func(v int32)
	visit = func(v int32) {
		t.Lo[v] = next
		if !t.IsGroup(v) {
			t.Order[next] = v
			next++
		} else {
			for _, c := range t.Kids(v) {
				visit(c)
			}
		}
		t.Hi[v] = next
	}
	visit(t.Root)
}

// Rebuild makes the tree anew from the parents; groups that are left with one child or none go.
func (t *Tree) Rebuild() {
	root := t.Root
	for again := true; again; {
		again = false
		t.adopt()
		for k, kids := range t.Children {
			v := int32(t.N + k)
			if v == root && len(kids) == 1 { // its only child is the root, then
				if v = kids[0]; !t.IsGroup(v) {
					continue
				}
			} else if v == root || t.Parent[v] < 0 || len(kids) >= 2 {
				continue
			}
			t.Splice(v) // at once: of a chain of such groups each takes up what the one below left
			again = true
		}
	}
	t.lay()
	t.weigh()
}

// weigh counts the pairs that each group joins.
func (t *Tree) weigh() {
	for k, kids := range t.Children {
		if kids == nil {
			continue
		}
		n := float64(t.Size(int32(t.N + k)))
		pairs := n * n
		for _, c := range kids {
			pairs -= float64(t.Size(c)) * float64(t.Size(c))
		}
		t.Weight[k] = pairs / 2
	}
}

// Clone is a copy whose groups may go; the order of the leaves is shared.
func (t *Tree) Clone() *Tree {
	c := *t
	c.Parent = append([]int32(nil), t.Parent...)
	c.Level = append([]float64(nil), t.Level...)
	c.Weight = append([]float64(nil), t.Weight...)
	c.Children = make([][]int32, len(t.Children))
	for k, kids := range t.Children {
		c.Children[k] = append([]int32(nil), kids...)
	}
	return &c
}
