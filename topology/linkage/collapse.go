package linkage

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/stats"
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
// The places are the groups of three children and more that a first trial leaves.
// That there is such a level has a price too. Groups share it whose levels, and those
// of their parents, differ by less than half the step. A machine has many groups of a
// kind, and so groups of two are found among hundreds of hosts. Groups whose members
// do not see the others alike, as pieces of meshes do not, pay it alone.
// O(n log n) per pass, few passes.
func collapseGroups(t *nested.Tree, sigma float64, distance func(i, j int32) float32) {
	c := collapse{t: t, sigma: sigma, lnFactorial: make([]float64, t.N+1), level: make([]float64, len(t.Parent))}
	for k := 2; k <= t.N; k++ {
		c.lnFactorial[k] = c.lnFactorial[k-1] + math.Log(float64(k))
	}
	c.run()
	trial := c
	trial.t = t.Clone()
	trial.lnPlaces = lnPlaces(trial.t)
	trial.run()
	c.lnPlaces = lnPlaces(trial.t)
	c.run()
	c.share(distance)
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
func (c *collapse) share(distance func(i, j int32) float32) {
	t := c.t
	type between struct{ low, high float64 } // levels of a group and its parent
	var alike []between
	groups := t.Groups()[1:]
	for _, v := range groups {
		c.level[v] = 2*math.Log(float64(t.N)) + 3
		if !unlike(t, v, distance) {
			alike = append(alike, between{t.LevelOf(v), t.LevelOf(t.Parent[v])})
		} else {
			alike = append(alike, between{math.NaN(), math.NaN()}) // near to nothing
		}
	}
	for k, v := range groups {
		half := (alike[k].high - alike[k].low) / 2
		like := 0
		for _, o := range alike {
			if math.Abs(o.low-alike[k].low) < half && math.Abs(o.high-alike[k].high) < half {
				like++
			}
		}
		c.level[v] /= float64(max(1, like))
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

// unlikeShare is how far members' readings to one outsider may be apart, relative to the step, before
// they are said not to see it alike. A group of two told by a single reading among
// hundreds stands out by 4.8 of its standard deviations: 0.2. Neighbours in a line or
// torus differ by a hop of two to four: 0.4 and more.
const unlikeShare = 0.33

// unlike tells whether the members of group v see the nearest quarter of the other hosts below its
// parent differently: one reading of four is off by more than that share from the median of all
// members, once each member's typical share is taken out, as it may be slow to all. Of many members and outsiders it looks at 64.
func unlike(t *nested.Tree, v int32, distance func(i, j int32) float32) bool {
	const most, least = 64, 8
	p := t.Parent[v]
	in := t.Leaves(v)
	before, after := t.Order[t.Lo[p]:t.Lo[v]], t.Order[t.Hi[v]:t.Hi[p]]
	out := len(before) + len(after)
	type column struct {
		sum float32
		x   []float32
	}
	columns := make([]column, min(most, out))
	for s := range columns {
		var k int32
		if x := s * out / len(columns); x < len(before) {
			k = before[x]
		} else {
			k = after[x-len(before)]
		}
		c := &columns[s]
		c.x = make([]float32, min(most, len(in)))
		for m := range c.x {
			c.x[m] = distance(in[m*len(in)/len(c.x)], k)
			c.sum += c.x[m]
		}
	}
	slices.SortStableFunc(columns, func(a, b column) int { return cmp.Compare(a.sum, b.sum) })
	columns = columns[:max(min(least, len(columns)), len(columns)/4)]
	shares := make([]float32, len(columns))
	for m := range columns[0].x {
		for s, c := range columns {
			shares[s] = c.x[m] / c.sum
		}
		typical := stats.LowerMedian(shares)
		for _, c := range columns {
			c.x[m] /= typical
		}
	}
	var off []float32
	for _, c := range columns {
		median := stats.LowerMedian(c.x)
		for _, x := range c.x {
			off = append(off, max(x, median)/min(x, median))
		}
	}
	return math.Log(float64(stats.Quantile(off, 0.75))) > unlikeShare*(t.LevelOf(p)-t.LevelOf(v))
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
	// readings have such. Below half the latency there is none.
	step = max(1-math.Exp(-step), step-(math.Ln2-0.5))
	gain := own * above / (own + above) * step * step / (2 * c.sigma * c.sigma)
	price := c.lnFactorial[k] - c.lnFactorial[j] - c.lnFactorial[k-j] + c.lnPlaces + math.Log(own)/2 + c.level[v]
	return gain - price
}

// run takes groups out, the least worthy first, until all that are left are worth it. The parent's
// level becomes the mean weighted by readings. "First" is kept within a pass
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
