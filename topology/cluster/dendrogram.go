package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A dendrogram is the binary tree of an agglomerative clustering. It is
// immutable.
type dendrogram struct {
	n      int
	merges []merge // n-1, by ascending height
}

// A merge joins clusters a and b, a < b: objects are 0..n-1, the cluster that
// merge k makes is n+k.
type merge struct {
	a, b   int
	height float64 // distance at which they join, in the unit of the distances
	size   int     // objects in the new cluster
}

func (t *dendrogram) size(c int) int {
	if c < t.n {
		return 1
	}
	return t.merges[c-t.n].size
}

// cut returns the clusters that have joined at or below the height. O(n).
func (t *dendrogram) cut(height float64) Labels {
	k := 0
	for k < len(t.merges) && t.merges[k].height <= height {
		k++
	}
	return t.after(k)
}

// after returns the clusters after the first k merges.
func (t *dendrogram) after(k int) Labels {
	s := newSets(t.n + k)
	for i, m := range t.merges[:k] {
		s.parent[m.a], s.parent[m.b] = t.n+i, t.n+i
	}
	raw := make([]int, t.n)
	for i := range raw {
		raw[i] = s.find(i)
	}
	return Relabel(raw)
}

// widestGap is the height below the largest ratio of consecutive heights.
func (t *dendrogram) widestGap() float64 {
	best, at := 1.0, math.Inf(1)
	for k := 1; k < len(t.merges); k++ {
		if low, high := t.merges[k-1].height, t.merges[k].height; low > 0 && high/low > best {
			best, at = high/low, low
		}
	}
	return at
}

// hierarchy turns the tree into nested groups. A merge whose height is below
// ratio times that of the merge above is no group of its own: both are one
// node with many children. ratio is at least 1; 1 keeps all but equal heights.
// The heights become latencies. Levels are classes of heights between which
// the ratio is at least as large, split further where groups of one class
// nest. Supports are NaN: nothing judges the groups here, as linkage.Robust
// does. O(n^2) at most.
func (t *dendrogram) hierarchy(ratio float64) (*topology.Hierarchy, error) {
	if !(ratio >= 1) {
		return nil, fmt.Errorf("cluster: hierarchy: ratio %g: want at least 1", ratio)
	}
	if len(t.merges) == 0 {
		return topology.NewHierarchy(t.n, nil, nil, math.NaN())
	}
	nodes := t.collapse(ratio)
	root := nodes[len(nodes)-1]
	inner := nodes[:len(nodes)-1]

	// Classes of heights, then the longest chain of one class below a node.
	class := 0
	for i := range inner { // by ascending height
		if i > 0 && inner[i].height > ratio*inner[i-1].height {
			class++
		}
		inner[i].class = class
	}
	type key struct{ class, chain int }
	keys := make([]key, len(inner))
	for i := range inner {
		keys[i] = key{inner[i].class, 0}
		for _, c := range inner[i].children {
			if inner[c].class == inner[i].class {
				keys[i].chain = max(keys[i].chain, keys[c].chain+1)
			}
		}
	}
	distinct := slices.Clone(keys)
	order := func(a, b key) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.chain, b.chain))
	}
	slices.SortFunc(distinct, order)
	distinct = slices.Compact(distinct)

	levels := make([]topology.Level, len(distinct))
	heights := make([][]float64, len(distinct))
	groups := make([]topology.Group, len(inner))
	for i, v := range inner {
		l, _ := slices.BinarySearchFunc(distinct, keys[i], order)
		heights[l] = append(heights[l], v.height)
		groups[i] = topology.Group{Hosts: v.members, Level: l, Latency: v.height, Support: math.NaN()}
	}
	for l := range levels {
		levels[l] = topology.Level{Name: fmt.Sprintf("level %d", l+1), Latency: heights[l][(len(heights[l])-1)/2], Support: math.NaN()}
	}
	return topology.NewHierarchy(t.n, levels, groups, root.height)
}

// A node is a group of a collapsed tree.
type node struct {
	height   float64
	members  []int
	children []int // indices of nodes
	class    int
}

// collapse splices every merge that is too close below the one above it into
// that one. Nodes come out by ascending height, the root last.
func (t *dendrogram) collapse(ratio float64) []node {
	keep := make([]bool, len(t.merges))
	keep[len(keep)-1] = true
	for _, m := range t.merges {
		for _, c := range []int{m.a, m.b} {
			if c >= t.n {
				keep[c-t.n] = m.height > ratio*t.merges[c-t.n].height
			}
		}
	}
	var nodes []node
	index := make([]int, len(t.merges)) // of kept merges: the node
	for k, m := range t.merges {
		if !keep[k] {
			continue
		}
		v := node{height: m.height, members: t.members(t.n + k)}
		var walk func(c int)
		walk = func(c int) {
			switch c -= t.n; {
			case c < 0:
			case keep[c]:
				v.children = append(v.children, index[c])
			default:
				walk(t.merges[c].b)
				walk(t.merges[c].a)
			}
		}
		walk(m.b)
		walk(m.a)
		index[k] = len(nodes)
		nodes = append(nodes, v)
	}
	return nodes
}

// members returns the objects of a cluster, ascending.
func (t *dendrogram) members(c int) []int {
	var all []int
	var walk func(c int)
	walk = func(c int) {
		if c < t.n {
			all = append(all, c)
			return
		}
		walk(t.merges[c-t.n].a)
		walk(t.merges[c-t.n].b)
	}
	walk(c)
	slices.Sort(all)
	return all
}
