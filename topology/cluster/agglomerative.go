package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/nnchain"
)

// Linkage says how far two clusters are from each other: the word of the
// clustering literature for the rule by which trees of clusters differ. Package
// linkage, which reconstructs machines, has its name from it.
type Linkage int

// The linkages.
const (
	Average  Linkage = iota // mean of the cross distances (UPGMA)
	Complete                // largest
	Single                  // smallest
)

// Agglomerative joins the closest clusters until one is left. Average and
// complete linkage run by nearest-neighbour chain (Murtagh 1983) in float32,
// single linkage by a minimum spanning tree (Gower and Ross 1969); all O(n^2).
//
// As a Clusterer it cuts the tree into K clusters, or below Height if K is 0;
// without either it cuts at the widest relative gap between two heights.
type Agglomerative struct {
	Linkage Linkage
	K       int     // clusters wanted; 0: by Height
	Height  float64 // largest distance at which clusters join; 0: widest gap
}

var _ Clusterer = Agglomerative{}

// dendrogram is the whole tree.
func (a Agglomerative) dendrogram(d *Distances) (*dendrogram, error) {
	switch a.Linkage {
	case Single:
		return singleLinkage(d), nil
	case Average, Complete:
	default:
		return nil, fmt.Errorf("cluster: agglomerative: Linkage %d: want Average, Complete or Single", a.Linkage)
	}
	rule := nnchain.Average
	if a.Linkage == Complete {
		rule = nnchain.Complete
	}
	work := nnchain.NewSquare(d.n)
	for i := range d.n {
		to := work.Row(i)
		for j, v := range d.row(i) {
			to[j] = float32(v)
		}
	}
	t := &dendrogram{n: d.n}
	for _, m := range nnchain.Merges(work, rule) {
		t.merges = append(t.merges, merge{a: int(m.A), b: int(m.B), height: float64(m.Height), size: int(m.Size)})
	}
	return t, nil
}

// Cluster cuts the tree.
func (a Agglomerative) Cluster(d *Distances) (Labels, error) {
	if a.K < 0 || a.K > d.n || a.Height < 0 {
		return nil, fmt.Errorf("cluster: agglomerative: K = %d, Height = %g: want K in [0, %d] and Height at least 0", a.K, a.Height, d.n)
	}
	t, err := a.dendrogram(d)
	if err != nil {
		return nil, err
	}
	switch {
	case a.K > 0:
		return t.after(d.n - a.K), nil
	case a.Height > 0:
		return t.cut(a.Height), nil
	default:
		return t.cut(t.widestGap()), nil
	}
}

// singleLinkage sorts the edges of a minimum spanning tree.
func singleLinkage(d *Distances) *dendrogram {
	return fromTree(d.n, spanningTree(d.n, d.row, nil))
}

// An edge joins two objects at a distance.
type edge struct {
	a, b   int
	length float64
}

// spanningTree is Prim's algorithm on a full matrix: O(n^2). Lengths are
// raised to the larger of both ends' cores where cores are given (mutual
// reachability). Ties go to the lowest object.
func spanningTree(n int, row func(int) []float64, cores []float64) []edge {
	if n < 2 {
		return nil
	}
	nearest := make([]edge, 0, n-1) // of each object outside: the edge to the tree
	for j := 1; j < n; j++ {
		nearest = append(nearest, edge{a: -1, b: j})
	}
	tree := make([]edge, 0, n-1)
	at := 0
	for len(nearest) > 0 {
		r, best := row(at), 0
		for k := range nearest {
			e := &nearest[k]
			v := r[e.b]
			if cores != nil {
				v = max(v, cores[at], cores[e.b])
			}
			if e.a < 0 || v < e.length {
				e.a, e.length = at, v
			}
			if e.length < nearest[best].length || e.length == nearest[best].length && e.b < nearest[best].b {
				best = k
			}
		}
		tree = append(tree, nearest[best])
		at = nearest[best].b
		nearest[best] = nearest[len(nearest)-1]
		nearest = nearest[:len(nearest)-1]
	}
	return tree
}

// fromTree makes the dendrogram of a spanning tree.
func fromTree(n int, tree []edge) *dendrogram {
	slices.SortStableFunc(tree, func(x, y edge) int { return cmp.Compare(x.length, y.length) })
	t := &dendrogram{n: n}
	sets := newSets(2*n - 1)
	for k, e := range tree {
		a, b := sets.find(e.a), sets.find(e.b)
		id := n + k
		size := t.size(a) + t.size(b)
		sets.parent[a], sets.parent[b] = id, id
		t.merges = append(t.merges, merge{a: min(a, b), b: max(a, b), height: e.length, size: size})
	}
	return t
}
