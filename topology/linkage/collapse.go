package linkage

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
)

// minStep is the step between levels, in ln units, below which a group is never
// told from its parent: 3 %, less than what neighbouring cores of one kind differ by.
const minStep = 0.03

// collapseGroups removes groups whose level is not worth describing, by minimum
// description length. Two levels, of m_c and m_p measurements with noise sigma, are
// worth it when the gain in likelihood pays for three statements:
//
//   - at which of the possible places the group is;
//   - which j of the k children there make it;
//   - what its level is, at half the logarithm of the number of measurements.
//
// The places are the groups of three children and more that a first pass leaves.
// That there is such a level has a price too. Groups share it whose levels, and those
// of their parents, differ by less than half the step. A machine has many groups of a
// kind, and so groups of two are found among hundreds of hosts.
// O(n log n) per pass, few passes.
func collapseGroups(t *nested.Tree, sigma float64) {
	c := collapse{t: t, sigma: sigma, lnFactorial: make([]float64, t.N+1), level: make([]float64, len(t.Parent))}
	for k := 2; k <= t.N; k++ {
		c.lnFactorial[k] = c.lnFactorial[k-1] + math.Log(float64(k))
	}
	c.run()
	c.lnPlaces = lnPlaces(t)
	c.run()
	c.share()
	c.run()
}

type collapse struct {
	t           *nested.Tree
	sigma       float64
	lnPlaces    float64
	lnFactorial []float64
	level       []float64 // price of the vertex' level
}

// share sets the price of the level of each group that is left. O(groups^2).
func (c *collapse) share() {
	t := c.t
	groups := t.Groups()[1:]
	for _, v := range groups {
		low, high := t.LevelOf(v), t.LevelOf(t.Parent[v])
		half := (high - low) / 2
		alike := 0
		for _, o := range groups {
			if math.Abs(t.LevelOf(o)-low) < half && math.Abs(t.LevelOf(t.Parent[o])-high) < half {
				alike++
			}
		}
		c.level[v] = (2*math.Log(float64(t.N)) + 3) / float64(max(1, alike))
	}
}

// lnPlaces is ln of the number of groups in which others may be.
func lnPlaces(t *nested.Tree) float64 {
	places := 0
	for _, kids := range t.Children {
		if len(kids) >= 3 {
			places++
		}
	}
	return math.Log(float64(max(1, places)))
}

// excess is below zero if group v is to go.
func (c *collapse) excess(v int32) float64 {
	t := c.t
	p := t.Parent[v]
	step := t.LevelOf(p) - t.LevelOf(v)
	if step < minStep {
		return step - minStep - 1e9
	}
	j := len(t.Kids(v))
	k := len(t.Kids(p)) - 1 + j
	own, above := t.WeightOf(v), t.WeightOf(p)
	// Noise is that of latencies: of logarithms its lower tail is longer, and thousands of
	// measurements have such. Below half the latency there is none.
	step = max(1-math.Exp(-step), step-(math.Ln2-0.5))
	gain := own * above / (own + above) * step * step / (2 * c.sigma * c.sigma)
	price := c.lnFactorial[k] - c.lnFactorial[j] - c.lnFactorial[k-j] + c.lnPlaces + math.Log(own)/2 + c.level[v]
	return gain - price
}

// run takes groups out, the least worthy first, until all that are left are worth it. The parent's
// level becomes the mean weighted by measurements. "First" is kept within a pass
// over all groups; a group changed in the pass is weighed anew when its turn comes.
func (c *collapse) run() {
	t := c.t
	type candidate struct {
		v      int32
		excess float64
	}
	for again := true; again; {
		again = false
		var list []candidate
		for _, v := range t.Groups() {
			if v != t.Root {
				if e := c.excess(v); e < 0 {
					list = append(list, candidate{v, e})
				}
			}
		}
		slices.SortFunc(list, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.excess, b.excess), int(a.v-b.v))
		})
		for _, x := range list {
			if c.excess(x.v) >= 0 {
				continue
			}
			p := t.Parent[x.v]
			own, above := t.WeightOf(x.v), t.WeightOf(p)
			t.Level[int(p)-t.N] = (own*t.LevelOf(x.v) + above*t.LevelOf(p)) / (own + above)
			t.Weight[int(p)-t.N] = own + above
			t.Splice(x.v)
			again = true
		}
	}
}
