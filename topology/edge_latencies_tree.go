package topology

import (
	"math"

	"github.com/topocast/topocast/internal/readings"
)

// asTree is the graph as Linkage's tree, if it is one whose leaves are all
// hosts, whose switches have three links or more, and whose readings are
// complete in both directions; nil otherwise. Vertices keep their numbers.
func (f *edgeFit) asTree() *tree {
	g := f.g
	n := g.Hosts()
	if n < 3 || f.links != g.Vertices()-1 || !g.IsForest() {
		return nil
	}
	for i, v := range f.measured {
		if math.IsNaN(v) && i%(n+1) != 0 {
			return nil
		}
	}
	for v := range g.Vertices() {
		if d := len(g.Out(v)); v < n && d != 1 || v >= n && d < 3 {
			return nil
		}
	}
	t := &tree{
		n: n, root: int32(n),
		parent:   make([]int32, g.Vertices()),
		children: make([][]int32, g.Vertices()-n),
		level:    make([]float64, g.Vertices()-n),
		weight:   make([]float64, g.Vertices()-n),
		lo:       make([]int32, g.Vertices()),
		hi:       make([]int32, g.Vertices()),
	}
	t.parent[t.root] = -1
	var visit func(v int32)
	visit = func(v int32) {
		t.lo[v] = int32(len(t.order))
		if !t.isGroup(v) {
			t.order = append(t.order, v)
		} else {
			for _, a := range g.Out(int(v)) {
				if c := int32(a.To); c != t.parent[v] {
					t.parent[c] = v
					t.children[int(v)-n] = append(t.children[int(v)-n], c)
					visit(c)
				}
			}
		}
		t.hi[v] = int32(len(t.order))
	}
	visit(t.root)
	return t
}

// solveTree moves x by the tree's own least squares, which need O(n^2) in all.
// It returns false, and leaves x alone, if a latency comes out at zero or
// below: the others would have to be fitted again without it.
func (f *edgeFit) solveTree(plain bool) bool {
	t, n := f.tree, f.g.Hosts()
	fit := &treeFit{
		t: t, length: make([]float64, f.g.Vertices()), depth: make([]float64, f.g.Vertices()), clip: clip,
	}
	if plain {
		fit.clip = math.Inf(1)
	}
	// Parents before children; the numbers here do not say so, as groups() expects.
	queue := []int32{t.root}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		fit.groups = append(fit.groups, v)
		for _, c := range t.kids(v) {
			fit.length[c] = f.x[f.link[f.g.ArcIndex(int(v), int(c))]]
			if t.isGroup(c) {
				queue = append(queue, c)
			}
		}
	}
	fit.descend()
	r := readings.NewSymmetric(n, func(i, j int) float32 {
		// A transfer time above the reading leaves nothing for the links.
		return float32(max(0, (f.readings[i*n+j]+f.readings[j*n+i])/2))
	})
	fit.robust(r)
	for _, v := range fit.groups {
		for _, c := range t.kids(v) {
			if !(fit.length[c] > 0) {
				return false
			}
		}
	}
	for _, v := range fit.groups {
		for _, c := range t.kids(v) {
			f.x[f.link[f.g.ArcIndex(int(v), int(c))]] = fit.length[c]
		}
	}
	return true
}
