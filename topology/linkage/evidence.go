package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// Evidence is what the readings say of one group, before any verdict: order statistics in
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
	// Readings looked at per group: to the outside, inside groups of hosts, and members whose
	// readings to each other are looked at in groups of groups. Half and four times as many: no verdict changes.
	mostOutside, mostWithin, mostInner = 16384, 4096, 128
	// Members of a child that speak for it: averages of eight halve the noise and more. 4 to 16 do as well.
	mostOfChild = 8
	// Outsiders that count as near: two, as one odd host must not decide, and as beside an arc of a
	// ring there are but two. Of fewer than eight, one. With four, 8 groups of measured cores are false.
	nearOutsiders, fewOutsiders = 2, 8
	// Groups of so many members choose their near outsiders by one half of the members and
	// read them with the other: what chose is lucky, what is read is not. Halves of fewer than four
	// would miss that one member of a piece of a torus is a neighbour of the outsider. 6 to 16 do.
	crossMembers = 8
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

// some returns up to most members of v, evenly chosen, as many of each child as
// children are large: a large switch must not outvote those beside it.
func (g *judge) some(v int32, most int) []int32 {
	t := g.t
	kids := t.Kids(v)
	each := 1
	if !t.HostsOnly(v) {
		each = max(1, min(mostOfChild, most/len(kids)))
	}
	skip := (len(kids)*each-1)/most + 1
	var list []int32
	for k := 0; k < len(kids); k += skip {
		leaves := t.Order[t.Lo[kids[k]]:t.Hi[kids[k]]]
		count := min(each, len(leaves))
		for x := range count {
			list = append(list, leaves[x*len(leaves)/count])
		}
	}
	return list
}

// inner returns the measured readings between different children of v: of some members.
func (g *judge) inner(v int32) []float32 {
	t := g.t
	if t.HostsOnly(v) {
		return g.readWithin(v)
	}
	in := g.some(v, mostInner)
	child := make([]int32, len(in))
	for k, i := range in {
		for child[k] = i; t.Parent[child[k]] != v; {
			child[k] = t.Parent[child[k]]
		}
	}
	g.within = g.within[:0]
	for k, i := range in {
		for l, j := range in[:k] {
			if x := g.r.At(int(i), int(j)); x > 0 && child[k] != child[l] {
				g.within = append(g.within, x)
			}
		}
	}
	return g.within
}

// readWithin returns the measured readings between different children of v: all, or an even
// sample.
func (g *judge) readWithin(v int32) []float32 {
	t := g.t
	pairs := t.Size(v) * t.Size(v)
	for _, c := range t.Kids(v) {
		pairs -= t.Size(c) * t.Size(c)
	}
	stride := (pairs/2-1)/mostWithin + 1
	g.within = g.within[:0]
	skip := 0
	for _, c := range t.Kids(v) {
		for p := t.Lo[c]; p < t.Hi[c]; p++ {
			partners := t.Order[t.Hi[c]:t.Hi[v]]
			for ; skip < len(partners); skip += stride {
				if x := g.r.At(int(t.Order[p]), int(partners[skip])); x > 0 {
					g.within = append(g.within, x)
				}
			}
			skip -= len(partners)
		}
	}
	return g.within
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

// near returns readings between members of v and near outsiders, of which there are some.
// g.block holds the readings of the members in to the outsiders out, row by row.
//
// Of a small group they are its smallest readings to the outside, one per member: it has too few
// members for medians to tell a neighbour of one of them from hosts that are far from all.
func (g *judge) near(v int32, in, out []int32) []float32 {
	g.nearest = g.nearest[:0]
	if g.t.Size(v) < crossMembers {
		k := min(len(in), len(g.outside))
		stats.Select(g.outside, k-1)
		return append(g.nearest, g.outside[:k]...)
	}
	count := 1
	if len(out) >= fewOutsiders {
		count = nearOutsiders
	}
	all := g.t.Leaves(v)
	for half := range 2 {
		for _, l := range g.nearestColumns(in, half, len(out), count) {
			if g.t.HostsOnly(v) && len(in) < len(all) { // hardly any of them chose
				for _, i := range all {
					if x := g.r.At(int(i), int(out[l])); x > 0 {
						g.nearest = append(g.nearest, x)
					}
				}
				continue
			}
			for k := 1 - half; k < len(in); k += 2 {
				if x := g.block[k*len(out)+l]; x > 0 {
					g.nearest = append(g.nearest, x)
				}
			}
		}
	}
	if len(g.nearest) == 0 { // the other halves were not measured
		return append(g.nearest, g.outside...)
	}
	return g.nearest
}

// nearestColumns returns the outsiders with the smallest median over every other member.
func (g *judge) nearestColumns(in []int32, first, width, count int) []int {
	var (
		least [nearOutsiders]float32
		at    [nearOutsiders]int
		found int
	)
	for l := range width {
		c := g.medianOfColumn(l, first, 2, len(in), width)
		if c < 0 || found == count && c >= least[count-1] {
			continue
		}
		if found < count {
			found++
		}
		k := found - 1
		for ; k > 0 && least[k-1] > c; k-- {
			least[k], at[k] = least[k-1], at[k-1]
		}
		least[k], at[k] = c, l
	}
	return at[:found]
}

// medianOfColumn is the median of the readings of every stride-th of the members to one
// outsider, -1 if there are none. Of an even number it is the mean of the two in the middle, as the
// lower of two readings is lucky.
func (g *judge) medianOfColumn(l, first, stride, members, width int) float32 {
	g.column = g.column[:0]
	for k := first; k < members; k += stride {
		if x := g.block[k*width+l]; x > 0 {
			g.column = append(g.column, x)
		}
	}
	if len(g.column) == 0 {
		return -1
	}
	return middle(g.column)
}

func middle[F stats.Float](x []F) F {
	low := stats.LowerMedian(x)
	if len(x)%2 == 1 {
		return low
	}
	return (low + slices.Min(x[len(x)/2:])) / 2
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
