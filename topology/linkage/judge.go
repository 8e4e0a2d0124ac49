package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
)

// A judge gives groups a support in [0, 1] from the measured readings alone. In
// contrast to the proposal it does not assume that noise is alike everywhere: on
// real machines the spread inside one class is anything from 1 to 40 %.
type judge struct {
	t       *nested.Tree
	r       *readings.Symmetric
	raw     *readings.Symmetric // r before unequal links were corrected
	noise   float64             // of one reading, known from repetitions; NaN if not
	gapped  bool                // pairs are missing
	quantum float64             // tick of the clock, in s; 0: none is seen
	white   float64             // noise that no host explains; NaN if not known
	support []float64           // of group v at v-n
	step    []float64           // of group v at v-n: ln of near outside over inside
	border  []border            // of group v at v-n

	// Scratch of gather.
	within, outside, nearest []float32
	block                    []float32
	column, columns, rest    []float32
	out                      []int32
}

// judge sets support and step of group v, which is not the root.
func (g *judge) judge(v int32) {
	at := int(v) - g.t.N
	e, ok := g.gather(v)
	if !ok {
		g.support[at], g.step[at], g.border[at] = 0, 0, border{} // nothing measured: nothing known
		return
	}
	g.support[at], g.step[at] = e.support(), e.near.step
}

// noteBorder notes where the readings of v end and those to its outside begin.
func (g *judge) noteBorder(v int32, within []float32, nearest float32) {
	g.border[int(v)-g.t.N] = border{
		inHigh:  math.Log(float64(within[int(borderQuantile*float64(len(within)-1))])),
		outLow:  math.Log(float64(nearest)),
		outHigh: math.Log(float64(stats.Quantile(g.outside, borderQuantile))),
	}
}

// borderQuantile leaves a quarter of the readings beyond a border to outliers and to
// what is farther.
const borderQuantile = 0.75

// weakCeiling is the most support of a group for which arguments speak that are not direct
// evidence: below firm by construction.
const weakCeiling = 0.85

// keepAbove is the support below which a group is taken out of the tree, so
// that its parent and children are judged without it. Lenient, as a low support
// costs nothing.
const keepAbove = 0.05

// eliminate judges all groups, and takes out those without support until all
// that remain have some: the worst third of them at a time, but never a group
// whose parent or child went in the same pass, as its verdict is out of date.
func (g *judge) eliminate() {
	t := g.t
	g.support = make([]float64, len(t.Children))
	g.step = make([]float64, len(t.Children))
	g.border = make([]border, len(t.Children))
	g.support[int(t.Root)-t.N] = 1
	for _, v := range t.Groups() {
		if v != t.Root {
			g.judge(v)
		}
	}
	for {
		var out []int32
		for _, v := range t.Groups() {
			if v != t.Root && g.support[int(v)-t.N] < keepAbove {
				out = append(out, v)
			}
		}
		if len(out) == 0 {
			return
		}
		slices.SortFunc(out, func(a, b int32) int {
			i, j := int(a)-t.N, int(b)-t.N
			for _, x := range [2][2]float64{{g.support[i], g.support[j]}, {g.step[i], g.step[j]}} {
				if x[0] < x[1] {
					return -1
				} else if x[0] > x[1] {
					return 1
				}
			}
			return int(a - b)
		})
		touched := map[int32]bool{}
		again := map[int32]bool{}
		for _, v := range out[:(len(out)+2)/3] {
			if touched[v] {
				continue
			}
			p := t.Parent[v]
			kids := t.Kids(v)
			touched[p] = true
			again[p] = true
			for _, c := range kids {
				touched[c] = true
				if t.IsGroup(c) {
					again[c] = true
				}
			}
			t.Splice(v)
		}
		for _, v := range t.Groups() {
			if again[v] && v != t.Root {
				g.judge(v)
			}
		}
	}
}
