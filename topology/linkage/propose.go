package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
)

// propose builds the tree of nested groups that the readings suggest, on the
// assumption that the noise is alike everywhere: cap, average linkage, collapse. It also
// returns its estimate of the noise. w is scratch, as large as the readings.
// O(n^2).
func propose(r *readings.Corrected, w *nnchain.Square) (t *nested.Tree, sigma float64) {
	square(w, r)
	s := prim(w)
	sigma = spread(w)
	kappa := float32(1 + max(0.1, 8*sigma))
	s.capAt(w, kappa)
	t = nested.Dendrogram(nnchain.Merges(w, nnchain.Average), r.N())
	capped := func(i, j int32) float32 {
		v := r.At(int(i), int(j))
		return min(max(v, -v), kappa*s.ultrametric(i, j))
	}
	measureLevels(t, capped)
	collapseGroups(t, sigma)
	return t, sigma
}

// square writes the sizes of all readings into a matrix.
func square(w *nnchain.Square, r *readings.Corrected) {
	const tile = 64
	n := r.N()
	scratch := make([]float32, 0, tile)
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(i0+tile, n); i++ {
				for j, x := range r.Part(scratch, i, min(j0, i), min(j0+tile, i)) {
					w.SetPair(i, j0+j, max(x, -x))
				}
			}
		}
	}
}

// measureLevels sets the level of every merge of a dendrogram: ln of the lower
// median of the distances between its two sides, of up to 4096 of them.
func measureLevels(t *nested.Tree, distance func(i, j int32) float32) {
	const most = 4096
	sample := make([]float32, 0, most)
	for k, kids := range t.Children {
		a, b := t.Leaves(kids[0]), t.Leaves(kids[1])
		sample = sample[:0]
		if len(a)*len(b) <= most {
			for _, i := range a {
				for _, j := range b {
					sample = append(sample, distance(i, j))
				}
			}
		} else {
			at := 0.0
			for s := range most {
				i, j := a[s*len(a)/most], b[int(at*float64(len(b)))]
				sample = append(sample, distance(i, j))
				if at += stats.Golden; at >= 1 {
					at--
				}
			}
		}
		t.Level[k] = math.Log(float64(stats.LowerMedian(sample)))
	}
}
