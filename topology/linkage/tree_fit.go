package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// fitOfTree says how well the tree explains the measurements. off is the mean of the residuals relative to the measurements.
// O(n^2).
func fitOfTree(f *nested.Fit, r *measured.Symmetric, h *topology.Hierarchy, class []int) (fit topology.Fit, off float64) {
	t := f.Tree
	top := len(h.Levels())
	e := stats.NewExplained(top + 1)
	var (
		count float64
		join  = make([]int32, t.N)
		skip  = t.N*(t.N-1)/2/(1<<17) + 1 // medians look at 131072 pairs
		until = skip
	)
	for i := range t.N {
		t.Joins(i, join)
		for j, x := range r.Row(i) {
			if x < 0 {
				continue
			}
			v, model := float64(x), f.Between(i, j, join[j])
			e.Add(v, model)
			count++
			off += math.Abs(v-model) / v
			if until--; until == 0 {
				until = skip
				level := top
				if join[j] != t.Root {
					level = class[int(join[j])-t.N]
				}
				e.AddResidual(level, v, model)
			}
		}
	}
	fit = topology.Fit{Family: topology.FamilyTree, R2: e.R2(), TreeLikeness: math.NaN()}
	if top == 0 {
		fit.Family = topology.FamilyFlat
	}
	fit.Residual, fit.Levels = e.Medians()
	return fit, off / count
}
