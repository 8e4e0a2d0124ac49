package nnchain

import (
	"cmp"
	"slices"
)

// A Merge joins the clusters A and B, A < B: leaves are 0..n-1, the cluster
// made by merge k is n+k.
type Merge struct {
	A, B   int32
	Height float64 // distance at which they join
	Size   int32   // leaves of the new cluster
}

// A Rule says how far a joined cluster is from the others (Lance and Williams
// 1967). Both rules are reducible, which the chain relies on.
type Rule int

// The rules. Single linkage has a faster way: a minimum spanning tree.
const (
	Average  Rule = iota // mean of the cross distances
	Complete             // largest cross distance
)

// Merges returns the n-1 merges of the complete tree, by ascending height. The
// matrix is symmetric; it is overwritten, and its diagonal is not read. Ties go to the lowest slot.
// The method is Murtagh's (1983, "A survey of recent advances in hierarchical clustering algorithms").
func Merges(m *Square, rule Rule) []Merge {
	n := m.n
	if n < 2 {
		return nil
	}
	c := chain{d: m.d, n: n, stride: m.stride, rule: rule, size: make([]int32, n), alive: make([]int32, n), leaf: make([]int32, n)}
	for i := range n {
		c.size[i], c.alive[i], c.leaf[i] = 1, int32(i), int32(i)
	}
	raw := make([]Merge, 0, n-1)
	var path []int32
	for len(c.alive) > 1 {
		if len(path) == 0 {
			path = append(path, c.alive[0])
		}
		x := path[len(path)-1]
		last := int32(-1)
		if len(path) > 1 {
			last = path[len(path)-2]
		}
		y, height := c.nearest(x, last)
		if y != last {
			path = append(path, y)
			continue
		}
		path = path[:len(path)-2]
		raw = append(raw, Merge{A: c.leaf[min(x, y)], B: c.leaf[max(x, y)], Height: float64(height)})
		c.join(min(x, y), max(x, y))
		if 2*len(c.alive) <= c.n {
			c.compact(path)
		}
	}
	return Label(raw, n)
}

// chain is the state: every cluster lives in a slot, a row and column of d.
type chain struct {
	d      []float32
	n      int // slots
	stride int
	rule   Rule
	size   []int32
	alive  []int32 // slots in use, ascending
	leaf   []int32 // slot -> one of the leaves of its cluster
}

// compact closes the gaps that joined clusters leave, so that rows stay dense
// in the cache, and renumbers the slots on path.
func (c *chain) compact(path []int32) {
	m := len(c.alive)
	stride := strideOf(m)
	for to, from := range c.alive {
		// Destinations never overtake their sources: both run upwards.
		row := c.d[int(from)*c.stride:]
		for j, k := range c.alive {
			c.d[to*stride+j] = row[k]
		}
		c.size[to], c.leaf[to] = c.size[from], c.leaf[from]
	}
	for i, slot := range path {
		at, _ := slices.BinarySearch(c.alive, slot)
		path[i] = int32(at)
	}
	for i := range c.alive {
		c.alive[i] = int32(i)
	}
	c.n, c.stride = m, stride
}

// nearest returns the slot closest to x; the one before x in the chain wins
// ties, without which the chain could run in a circle.
func (c *chain) nearest(x, last int32) (y int32, best float32) {
	row := c.d[int(x)*c.stride:][:c.n]
	y = last
	if last >= 0 {
		best = row[last]
	}
	for _, k := range c.alive {
		if k != x && (y < 0 || row[k] < best) {
			y, best = k, row[k]
		}
	}
	return y, best
}

// join puts cluster b into slot a.
func (c *chain) join(a, b int32) {
	at, _ := slices.BinarySearch(c.alive, b)
	c.alive = slices.Delete(c.alive, at, at+1)
	rowA, rowB := c.d[int(a)*c.stride:][:c.n], c.d[int(b)*c.stride:][:c.n]
	sum := float32(c.size[a] + c.size[b])
	wa, wb := float32(c.size[a])/sum, float32(c.size[b])/sum
	for _, k := range c.alive {
		if k == a {
			continue
		}
		v := max(rowA[k], rowB[k])
		if c.rule == Average {
			// A mean is not below both: rounding must not make it so, or a
			// neighbour deeper in the chain could come nearer than the chain knows.
			v = max(min(rowA[k], rowB[k]), wa*rowA[k]+wb*rowB[k])
		}
		rowA[k] = v
		c.d[int(k)*c.stride+int(a)] = v
	}
	c.size[a] += c.size[b]
}

// Label makes the merges of a tree of n leaves of its edges, each a merge of two leaves whose clusters join at its height: it
// sorts them by height and renames the leaves to clusters, in place.
func Label(raw []Merge, n int) []Merge {
	if n < 2 {
		return nil
	}
	slices.SortStableFunc(raw, func(x, y Merge) int { return cmp.Compare(x.Height, y.Height) })
	parent := make([]int32, 2*n-1)
	size := make([]int32, 2*n-1)
	for i := range parent {
		parent[i], size[i] = int32(i), 1
	}
	find := func(x int32) int32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	for k, m := range raw {
		a, b := find(m.A), find(m.B)
		id := int32(n + k)
		parent[a], parent[b] = id, id
		size[id] = size[a] + size[b]
		raw[k] = Merge{A: min(a, b), B: max(a, b), Height: m.Height, Size: size[id]}
	}
	return raw
}
