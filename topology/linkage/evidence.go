package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// evidence is what the readings say of one group, before any verdict: order statistics in
// ln units, which do not depend on the unit of time, and counts. Nothing in it is a threshold.
//
// Outsiders are the hosts of the group's parent that are no members. The near ones are those
// whose median reading to the members is smallest: of single readings the smallest is
// the luckiest, and luckier the larger the machine.
type evidence struct {
	hosts   float64 // of the machine
	around  float64 // hosts of the parent
	members float64
	inside  float64 // readings inside that were looked at
	links   float64 // pairs of children of the group: what readings inside measure, however many they are
	borders float64 // pairs of a child and another child of the parent

	white   float64  // noise of a reading that no host explains, of the machine; NaN if not known
	spread  float64  // standard deviation of the readings to outsiders, from their median deviation
	mean    float64  // median reading to outsiders over the mean of those inside
	ticks   float64  // the step to near outsiders in ticks of the clock; +Inf if none is seen
	near    contrast // to near outsiders, as it was read
	average contrast // what near would be had the readings of a small group no luck; for a large group near

	uneven float64 // how differently two members see an outsider, but for how far they are from all; NaN if nothing tells
	mates  float64 // the same of members that are nearest to each other
}

// A contrast is how readings to near outsiders compare with those inside.
type contrast struct {
	step    float64 // median to near outsiders over that inside
	overlap float64 // share of the pairs of a reading inside and one to a near outsider that are in the wrong order; ties count half
}

const (
	// Readings to the outside looked at per group. Half and four times as many: no verdict changes.
	mostOutside = 16384
	// A reading inside that is slower than the typical way out by 30 % is an outlier,
	// unless more than a tenth are. 15 to 60 % and 7 to 20 % do; without, 14 groups are lost where 2 % are.
	outlier, outlierInside = 1.3, 0.1
	// Members whose unevenness is looked at, and its quantile over all outsiders: above the median,
	// as half of them may be so far away that members see them alike.
	mostScattered  = 64
	unevenQuantile = 0.7
)

// gather reads the evidence for group v, which is not the root; false if nothing was measured
// inside it, or between it and its outsiders. O(members x outsiders), mostOutside readings at most.
func (g *judge) gather(v int32) (evidence, bool) {
	t := g.t
	p := t.Parent[v]
	kids := float64(len(t.Kids(v)))
	e := evidence{
		hosts: float64(t.N), around: float64(t.Size(p)), members: float64(t.Size(v)),
		links: kids * (kids - 1) / 2, borders: kids * float64(len(t.Kids(p))-1), white: g.white,
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
	if len(within) >= 3 {
		limit := outlier * stats.LowerMedian(g.outside)
		within = dropAbove(within, limit, max(1, int(outlierInside*float64(len(within)))))
	}
	slices.Sort(within)
	inside := within[(len(within)-1)/2]

	e.inside = float64(len(within))
	e.spread = g.spreadOutside()
	sum := 0.0
	for _, x := range within {
		sum += float64(x)
	}
	e.mean = math.Log(float64(stats.LowerMedian(g.outside)) * e.inside / sum)
	near := g.near(v, in, out)
	border := stats.LowerMedian(near)
	e.near = contrast{math.Log(float64(border / inside)), overlap(within, near, 1)}
	e.ticks = float64(border-inside) / g.quantum
	if g.quantum == 0 {
		e.ticks = math.Inf(1)
	}
	e.average = e.near
	if t.Size(v) < crossMembers && e.white > 0 {
		luck := e.white * luckOfSmallest(len(out))
		e.average = contrast{e.near.step + luck, overlap(within, near, float32(math.Exp(luck)))}
	}
	if g.gapped {
		g.noteBorder(v, within, border)
	}
	g.scatter(&e, in, len(out))
	return e, true
}

// luckOfSmallest is by how many standard deviations the smallest of so many normal values lies
// below their mean, in the median of those that groups of few members read: one per member.
func luckOfSmallest(outsiders int) float64 {
	return math.Sqrt2 * math.Erfinv(1-1/float64(outsiders))
}

// overlap is the share of pairs of values of within, in ascending order, and of near, times factor,
// of which the first is larger; ties count half.
func overlap(within, near []float32, factor float32) float64 {
	wrong := 0.0
	for _, x := range near {
		x *= factor
		above, _ := slices.BinarySearch(within, x)
		wrong += float64(len(within) - above)
		for ; above < len(within) && within[above] == x; above++ {
			wrong -= 0.5
		}
	}
	return wrong / float64(len(near)*len(within))
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

// scatter measures how differently members see outsiders. What a member is
// farther from all outsiders than others is no difference: it is one round of median
// polish (Tukey 1977) that takes it out.
func (g *judge) scatter(e *evidence, in []int32, width int) {
	columns := g.columns[:0]
	for l := range width {
		columns = append(columns, g.medianOfColumn(l, 0, 1, len(in), width))
	}
	g.columns = columns
	own := make([]float32, len(in))
	for k := range in {
		g.column = g.column[:0]
		for l, c := range columns {
			if x := g.block[k*width+l]; x > 0 && c > 0 {
				g.column = append(g.column, x/c)
			}
		}
		own[k] = 1
		if len(g.column) > 0 {
			own[k] = middle(g.column)
		}
	}
	differ := func(partner func(k int) int) float64 {
		rest := g.rest[:0]
		for k := 0; k < len(in); k += (len(in)-1)/mostScattered + 1 {
			o := partner(k)
			for l := range width {
				if x, y := g.block[k*width+l], g.block[o*width+l]; x > 0 && y > 0 {
					a, b := x*own[o], y*own[k]
					rest = append(rest, max(a, b)/min(a, b))
				}
			}
		}
		g.rest = rest
		if len(rest) == 0 {
			return math.NaN()
		}
		return math.Log(float64(stats.Quantile(rest, unevenQuantile)))
	}
	e.uneven = differ(func(k int) int { return (k + 1 + k%(len(in)-1)) % len(in) }) // anyone else
	e.mates = e.uneven
	if len(in) < crossMembers {
		return
	}
	mates := differ(func(k int) int {
		mate, nearest := (k+1)%len(in), float32(0)
		for o := range in {
			if o == k {
				continue
			}
			if x := g.r.At(int(in[k]), int(in[o])); x > 0 && (nearest == 0 || x < nearest) {
				mate, nearest = o, x
			}
		}
		return mate
	})
	if !math.IsNaN(mates) {
		e.mates = mates
	}
}

// noteBorder notes where the readings of v end and those to its outside begin.
func (g *judge) noteBorder(v int32, within []float32, nearest float32) {
	g.border[int(v)-g.t.N] = border{
		inHigh:  math.Log(float64(within[int(borderQuantile*float64(len(within)-1))])),
		outLow:  math.Log(float64(nearest)),
		outHigh: math.Log(float64(stats.Quantile(g.outside, borderQuantile))),
	}
}
