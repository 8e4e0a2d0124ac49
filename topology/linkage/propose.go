package linkage

import (
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/nnchain"
)

// propose builds the tree of nested groups that the measurements of n hosts suggest, on the
// assumption that the noise is alike everywhere: cap, average linkage, collapse. at is the measurement of a pair i > j,
// negative where it is an estimate. It also returns its estimate of the noise. capRow cuts the measurements of host i in a
// row, as all that proposes groups reads them. w is scratch of n rows. O(n^2).
func propose(at func(i, j int) float32, w *nnchain.Square) (t *nested.Tree, sigma float64, capRow func(row []float32, i int)) {
	square(w, at)
	s := prim(w)
	sigma = spread(w)
	kappa := float32(1 + max(0.1, 8*sigma))
	capRow = func(row []float32, i int) { s.capRow(row, i, kappa) }
	for i := range w.N() {
		capRow(w.Row(i), i)
	}
	t = nested.Dendrogram(nnchain.Merges(w, nnchain.Average), w.N())
	remeasure(t, func(i, j int) float32 { // capped, too
		x := at(i, j)
		return min(max(x, -x), kappa*s.ultrametric(i, j))
	})
	collapseGroups(t, sigma)
	return t, sigma, capRow
}

// square writes the sizes of all measurements into a matrix.
func square(w *nnchain.Square, at func(i, j int) float32) {
	const tile = 64 // cells of a column stay in the cache
	n := w.N()
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(i0+tile, n); i++ {
				for j := j0; j < min(j0+tile, i); j++ {
					x := at(i, j)
					w.SetPair(i, j, max(x, -x))
				}
			}
		}
	}
}
