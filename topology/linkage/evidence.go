package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/confidence"
	"github.com/topocast/topocast/internal/stats"
)

// evidence and contrast are what the confidence in a group is made of.
type (
	evidence = confidence.Evidence
	contrast = confidence.Contrast
)

const (
	// Measurements to outsiders that are looked at per group.
	mostOutside = 16384
	// A measurement inside that is slower than the median to outsiders by 30 % is an outlier, unless more than a tenth
	// are. Without that 14 groups are lost where 2 % of the measurements are outliers.
	outlier, outlierInside = 1.3, 0.1
)

// gather collects the evidence for group v, which is not the root. It returns false if nothing was measured inside the
// group, or between it and its outsiders. O(members x outsiders), mostOutside measurements at most.
func (g *judge) gather(v int32) (evidence, bool) {
	t := g.t
	p := t.Parent[v]
	kids := float64(len(t.Kids(v)))
	e := evidence{
		Hosts: float64(t.N), Around: float64(t.Size(p)), Members: float64(t.Size(v)),
		Links: kids * (kids - 1) / 2, Margins: kids * float64(len(t.Kids(p))-1), ResidualNoise: g.residualNoise,
	}
	out := append(append(g.out[:0], t.Order[t.Lo[p]:t.Lo[v]]...), t.Order[t.Hi[v]:t.Hi[p]]...)
	in := g.some(v, max(2, mostOutside/len(out)))
	g.out = out
	g.block = slices.Grow(g.block[:0], len(in)*len(out))[:len(in)*len(out)]
	g.outside = g.outside[:0]
	for k, i := range in {
		row := g.block[k*len(out):][:len(out)]
		for l, j := range out {
			row[l] = g.r.At(int(i), int(j))
			if row[l] > 0 {
				g.outside = append(g.outside, row[l])
			}
		}
	}
	within := g.inner(v)
	if len(within) == 0 || len(g.outside) == 0 {
		return evidence{}, false
	}
	slices.Sort(within)
	if len(within) >= 3 {
		limit := outlier * stats.LowerMedian(g.outside)
		within = dropAbove(within, limit, max(1, int(outlierInside*float64(len(within)))))
	}
	inside := within[(len(within)-1)/2]

	e.Inside = float64(len(within))
	e.Spread = g.spreadOutside()
	sum := 0.0
	for _, x := range within {
		sum += float64(x)
	}
	e.Mean = math.Log(float64(stats.LowerMedian(g.outside)) * e.Inside / sum)
	near := g.near(v, in, out)
	nearest := stats.LowerMedian(near)
	e.Near = contrast{Step: math.Log(float64(nearest / inside)), Overlap: confidence.Overlap(within, near, 1)}
	e.Ticks = math.Inf(1)
	if g.quantum > 0 {
		out := float64(stats.LowerMedian(g.outside))
		e.Ticks = (2*out - float64(inside) - g.insideOthers(v, out)) / g.quantum
	}
	e.Average = e.Near
	if t.Size(v) < crossMembers && e.ResidualNoise > 0 {
		luck := e.ResidualNoise * confidence.LuckOfSmallest(len(out))
		e.Average = contrast{Step: e.Near.Step + luck, Overlap: confidence.Overlap(within, near, float32(math.Exp(luck)))}
	}
	if g.gapped {
		g.noteMargin(v, within, nearest)
	}
	return e, true
}

// insideOthers is the median level, in s, of the hosts beside v. The level of a host is that of its group. For a host in
// none it is nearest, the median of the measurements between v and its outsiders.
func (g *judge) insideOthers(v int32, nearest float64) float64 {
	t := g.t
	var levels []float64
	for _, c := range t.Kids(t.Parent[v]) {
		switch {
		case c == v:
		case t.IsGroup(c):
			for range t.Size(c) {
				levels = append(levels, min(nearest, math.Exp(t.LevelOf(c))))
			}
		default:
			levels = append(levels, nearest)
		}
	}
	return stats.Median(levels)
}

// spreadOutside is the standard deviation of the measurements to outsiders, in ln units, from their median deviation.
func (g *judge) spreadOutside() float64 {
	m := stats.LowerMedian(g.outside)
	g.column = g.column[:0]
	for _, x := range g.outside {
		g.column = append(g.column, max(x, m)/min(x, m))
	}
	return stats.SigmaPerMAD * math.Log(float64(stats.LowerMedian(g.column)))
}

// dropAbove removes up to most of the largest of ascending values, if above limit.
func dropAbove(x []float32, limit float32, most int) []float32 {
	for range most {
		if last := len(x) - 1; x[last] > limit {
			x = x[:last]
		}
	}
	return x
}

// noteMargin notes where the measurements inside v end and those to its outsiders begin.
func (g *judge) noteMargin(v int32, within []float32, nearest float32) {
	g.margin[int(v)-g.t.N] = margin{
		inHigh:  math.Log(float64(within[int(marginQuantile*float64(len(within)-1))])),
		outLow:  math.Log(float64(nearest)),
		outHigh: math.Log(float64(stats.Quantile(g.outside, marginQuantile))),
	}
}
