package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/support"
)

const (
	// Readings to the outside looked at per group. Half and four times as many: no verdict changes.
	mostOutside = 16384
	// A reading inside that is slower than the typical way out by 30 % is an outlier,
	// unless more than a tenth are. 15 to 60 % and 7 to 20 % do; without, 14 groups are lost where 2 % are.
	outlier, outlierInside = 1.3, 0.1
	// How differently members see outsiders: above the median, as half of the outsiders may be so far away
	// that members see them alike. By noise alone two readings differ by 1.466 standard deviations in this
	// quantile (of sqrt 2 |N(0,1)|). Up to half as much again is taken for noise.
	unevenQuantile, unevenOfNoise, noiseMargin = 0.7, 1.466, 1.5
)

// gather reads the evidence for group v, which is not the root; false if nothing was measured
// inside it, or between it and its outsiders. O(members x outsiders), mostOutside readings at most.
func (g *judge) gather(v int32) (support.Evidence, bool) {
	t := g.t
	p := t.Parent[v]
	kids := float64(len(t.Kids(v)))
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
		return support.Evidence{}, false
	}
	if len(within) >= 3 {
		limit := outlier * stats.LowerMedian(g.outside)
		within = dropAbove(within, limit, max(1, int(outlierInside*float64(len(within)))))
	}
	slices.Sort(within)
	inside := within[(len(within)-1)/2]

	spread := g.spreadOutside()
	near := g.near(v, in, out)
	border := stats.LowerMedian(near)
	noise, uneven := g.white, g.uneven(in, len(out))
	if uneven < unevenOfNoise*noise {
		noise = max(noiseFloor, uneven/unevenOfNoise)
	}
	sum := 0.0
	for _, x := range within {
		sum += float64(x)
	}
	e := support.Evidence{
		Hosts: float64(t.N), Around: float64(t.Size(p)), Members: float64(t.Size(v)), Inside: float64(len(within)),
		White: noise, Mean: math.Log(float64(stats.LowerMedian(g.outside)) * float64(len(within)) / sum),
		Links: kids * (kids - 1) / 2, Borders: kids * float64(len(t.Kids(p))-1), Spread: spread,
		Near: support.Contrast{Step: math.Log(float64(border / inside)), Overlap: support.Overlap(within, near, 1)}, Ticks: math.Inf(1),
	}
	e.Average = e.Near
	if t.Size(v) < crossMembers && uneven < noiseMargin*unevenOfNoise*g.white {
		luck := g.white * support.LuckOfSmallest(len(out))
		e.Average = support.Contrast{Step: e.Near.Step + luck, Overlap: support.Overlap(within, near, float32(math.Exp(luck)))}
	}
	if g.quantum > 0 {
		out := float64(stats.LowerMedian(g.outside))
		e.Ticks = (2*out - float64(inside) - g.insideOthers(v, out)) / g.quantum
	}
	if g.gapped {
		g.noteBorder(v, within, border)
	}
	return e, true
}

// insideOthers is the typical level, in s, of what is beside v: of each host there that of its group. It is
// border, the typical way out of v, for a host in none.
func (g *judge) insideOthers(v int32, border float64) float64 {
	t := g.t
	var levels []float64
	for _, c := range t.Kids(t.Parent[v]) {
		switch {
		case c == v:
		case t.IsGroup(c):
			for range t.Size(c) {
				levels = append(levels, min(border, math.Exp(t.LevelOf(c))))
			}
		default:
			levels = append(levels, border)
		}
	}
	return stats.Median(levels)
}

// spreadOutside is the standard deviation of the readings to outsiders, in ln units, from
// their median deviation.
func (g *judge) spreadOutside() float64 {
	m := stats.LowerMedian(g.outside)
	g.column = g.column[:0]
	for _, x := range g.outside {
		g.column = append(g.column, max(x, m)/min(x, m))
	}
	return stats.SigmaPerMAD * math.Log(float64(stats.LowerMedian(g.column)))
}

// dropAbove removes up to most of the largest values, if above limit.
func dropAbove(x []float32, limit float32, most int) []float32 {
	keep := len(x)
	for i := 0; i < keep; {
		if x[i] > limit {
			keep--
			x[i], x[keep] = x[keep], x[i]
		} else {
			i++
		}
	}
	if len(x)-keep <= most {
		return x[:keep]
	}
	// Too many to be outliers: the smaller of them stay.
	stats.Select(x, len(x)-most-1)
	return x[:len(x)-most]
}

// uneven is how differently each member and the next see outsiders, in ln units; NaN if nothing tells.
// g.block holds the readings of the members in to the outsiders, row by row.
func (g *judge) uneven(in []int32, width int) float64 {
	g.rest = g.rest[:0]
	for k := range in {
		o := (k + 1) % len(in)
		for l := range width {
			if x, y := g.block[k*width+l], g.block[o*width+l]; x > 0 && y > 0 {
				g.rest = append(g.rest, max(x, y)/min(x, y))
			}
		}
	}
	if len(g.rest) == 0 {
		return math.NaN()
	}
	return math.Log(float64(stats.Quantile(g.rest, unevenQuantile)))
}

// noteBorder notes where the readings of v end and those to its outside begin.
func (g *judge) noteBorder(v int32, within []float32, nearest float32) {
	g.border[int(v)-g.t.N] = border{
		inHigh:  math.Log(float64(within[int(borderQuantile*float64(len(within)-1))])),
		outLow:  math.Log(float64(nearest)),
		outHigh: math.Log(float64(stats.Quantile(g.outside, borderQuantile))),
	}
}
