package cluster

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

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
// As a Clusterer it cuts the tree into K clusters, or at the widest relative gap between two heights if K is 0.
type Agglomerative struct {
	Linkage Linkage
	K       int // clusters wanted; 0: those below the widest gap
}

var _ Clusterer = Agglomerative{}

// dendrogram is the whole tree.
func (a Agglomerative) dendrogram(d *distances) (*dendrogram, error) {
	rule := nnchain.Average
	switch a.Linkage {
	case Average:
	case Complete:
		rule = nnchain.Complete
	case Single:
		return &dendrogram{d.n, nnchain.Label(spanningTree(d, nil), d.n)}, nil
	default:
		return nil, fmt.Errorf("cluster: agglomerative: Linkage %d: want Average, Complete or Single", a.Linkage)
	}
	work := nnchain.NewSquare(d.n)
	for i := range d.n {
		to := work.Row(i)
		for j, v := range d.row(i) {
			to[j] = float32(v)
		}
	}
	return &dendrogram{d.n, nnchain.Merges(work, rule)}, nil
}

// Cluster cuts the tree.
func (a Agglomerative) Cluster(s mat.Symmetric) (Labels, error) {
	d := rowsOf(s)
	if a.K < 0 || a.K > d.n {
		return nil, fmt.Errorf("cluster: agglomerative: K = %d: want in [0, %d]", a.K, d.n)
	}
	t, err := a.dendrogram(d)
	if err != nil {
		return nil, err
	}
	if a.K > 0 {
		return t.after(d.n - a.K), nil
	}
	return t.after(t.belowWidestGap()), nil
}

// spanningTree returns the edges of a minimum spanning tree. Lengths are raised to the larger of both ends' cores where
// cores are given (mutual reachability). Ties go to the lowest object. O(n^2).
func spanningTree(d *distances, cores []float64) []nnchain.Merge {
	row := d.row
	if cores != nil {
		raised := make([]float64, d.n)
		row = func(i int) []float64 {
			for j, v := range d.row(i) {
				raised[j] = max(v, cores[i], cores[j])
			}
			return raised
		}
	}
	var tree []nnchain.Merge
	nnchain.Prim(d.n, row, func(from, to int, length float64) {
		tree = append(tree, nnchain.Merge{A: int32(from), B: int32(to), Height: length})
	})
	return tree
}
