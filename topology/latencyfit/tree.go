package latencyfit

import (
	"math"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/readings"
)

// asTree is the graph as a nested.Tree, if it is one whose leaves are all
// hosts, whose switches have three links or more, and whose readings are
// complete in both directions; nil otherwise. Vertices keep their numbers.
func (f *edgeFit) asTree() *nested.Tree {
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
	parent := make([]int32, g.Vertices())
	root := n
	parent[root] = -1
	for walk := []int{root}; len(walk) > 0; walk = walk[1:] {
		for _, a := range g.Out(walk[0]) {
			if v := walk[0]; a.To != int(parent[v]) {
				parent[a.To] = int32(v)
				walk = append(walk, a.To)
			}
		}
	}
	return nested.New(n, parent)
}

// solveTree moves x by the tree's own least squares, which need O(n^2) in all.
// It returns false, and leaves x alone, if a latency comes out at zero or
// below: the others would have to be fitted again without it.
func (f *edgeFit) solveTree(plain bool) bool {
	t, n := f.tree, f.g.Hosts()
	clip := nested.HuberClip
	if plain {
		clip = math.Inf(1)
	}
	above := make([]int32, f.g.Vertices()) // the link to the parent
	length := make([]float64, f.g.Vertices())
	for v, p := range t.Parent {
		if p >= 0 {
			above[v] = f.link[f.g.ArcIndex(int(p), v)]
			length[v] = f.x[above[v]]
		}
	}
	fit := nested.NewFitFrom(t, length, clip)
	r := readings.NewSymmetric(n, func(i, j int) float32 {
		// A transfer time above the reading leaves nothing for the links.
		return float32(max(0, (f.readings[i*n+j]+f.readings[j*n+i])/2))
	})
	fit.Robust(r)
	for v, p := range t.Parent {
		if p >= 0 && !(fit.Length[v] > 0) {
			return false
		}
	}
	for v, p := range t.Parent {
		if p >= 0 {
			f.x[above[v]] = fit.Length[v]
		}
	}
	return true
}
