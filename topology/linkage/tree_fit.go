package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// fitOfTree measures how well the tree explains the measured readings; off is the mean
// of the residuals relative to the readings. O(n^2).
func fitOfTree(f *nested.Fit, r *readings.Symmetric, h *topology.Hierarchy, class []int) (fit topology.Fit, off float64) {
	t := f.Tree
	top := len(h.Levels())
	rest := make([][]float64, top+1)
	var (
		count    int
		residual float64
		// Sums about a reading, not about zero: nothing is left of readings that are all alike.
		shift        = math.Abs(float64(r.At(1, 0)))
		sum, squares float64
		join         = make([]int32, t.N)
		skip         = t.N*(t.N-1)/2/(1<<17) + 1 // medians look at 131072 pairs
		until        = skip
	)
	for i := range t.N {
		t.Joins(i, join)
		for j, x := range r.Row(i) {
			if x < 0 {
				continue
			}
			v := float64(x)
			fit := f.Between(i, j, join[j])
			count++
			sum += v - shift
			squares += (v - shift) * (v - shift)
			residual += (v - fit) * (v - fit)
			off += math.Abs(v-fit) / v
			if until--; until == 0 {
				until = skip
				level := top
				if join[j] != t.Root {
					level = class[int(join[j])-t.N]
				}
				if fit > 0 {
					rest[level] = append(rest[level], math.Abs(v-fit)/fit)
				}
			}
		}
	}
	off /= float64(count)
	fit = topology.Fit{Family: topology.FamilyTree, R2: math.NaN(), TreeLikeness: math.NaN()}
	if top == 0 {
		fit.Family = topology.FamilyFlat
	}
	if m2 := squares - sum*sum/float64(count); m2 > 0 {
		fit.R2 = 1 - residual/m2
	}
	fit.Residual = stats.Median(slices.Concat(rest...))
	for _, of := range rest {
		fit.Levels = append(fit.Levels, topology.LevelFit{Residual: stats.Median(of)})
	}
	return fit, off
}
