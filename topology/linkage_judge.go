package topology

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// Limits on the readings looked at per group.
const (
	mostWithin  = 8192
	mostOutside = 32768
)

// A judge gives groups a support in [0, 1] from the measured readings alone. In
// contrast to the proposal it does not assume that noise is alike everywhere: on
// real machines the spread inside one class is anything from 1 to 40 %.
type judge struct {
	t       *tree
	r       *readings
	raw     *readings // r before unequal links were corrected
	noise   float64   // of one reading, known from repetitions; NaN if not
	gapped  bool      // pairs are missing
	quantum float64   // tick of the clock, in s; 0: none is seen
	support []float64 // of group v at v-n
	step    []float64 // of group v at v-n: ln of nearest outside over inside
	border  []border  // of group v at v-n

	within, outside []float32 // scratch
	member, column  []float32
	columns, rest   []float32
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Thresholds of the judgement, in ln units. Each has a plateau on measured
// machines, simulated and modelled networks within which no verdict changes.
const (
	// Inside one class of cores the means of neighbours differ by up to 9 %
	// (dies, ring stops); levels of switches by 12 % and more.
	stepNeeded = 0.08
	stepWidth  = 0.012
	// The smallest of few readings is lucky: added to stepNeeded over the root of
	// their number.
	stepFew = 0.12
	// The step must also be of the order of the spread inside and just outside.
	ratioNeeded = 0.7
	ratioWidth  = 0.12
	ratioFloor  = 0.01 // exact data and timer quanta have no spread
	// Readings slower than the typical way out by 30 % are outliers.
	outlier = 1.3
	// Arguments that are not direct evidence cannot make a group firm.
	weakCeiling = 0.85
	// Members see an outsider alike: three readings of four are within 15 % of
	// their median (5 % of noise makes 6 %), or within 0.3 of the step.
	unevenMost       = 0.15
	unevenWidth      = 0.008
	unevenShare      = 0.3
	unevenShareWidth = 0.02
	// Of fewer readings to an outsider one or two are their own median, and say nothing of how
	// alike they are. Groups of three have as many.
	columnLeast = 3
)

// judge sets support and step of group v, which is not the root.
// O(|v| outsiders), at most mostOutside readings.
func (g *judge) judge(v int32) {
	t := g.t
	at := int(v) - t.n
	within := g.readWithin(v)
	outside := g.readOutside(v)
	if len(within) == 0 || len(outside) == 0 {
		g.support[at], g.step[at], g.border[at] = 0, 0, border{} // nothing measured: nothing known
		return
	}
	outsiders := t.size(t.parent[v]) - t.size(v)

	// The inside: typical reading m, and how far readings go above it.
	limit := outlier * stats.LowerMedian(outside)
	w := within
	if len(w) >= 3 {
		w = dropAbove(w, limit, max(1, len(w)/10))
	}
	m := float64(stats.LowerMedian(w))
	top := (9*len(w) + 9) / 10 // ceil(0.9 |W|)
	highest := float64(stats.Select(w, top-1))
	second := highest
	if top >= 2 {
		second = float64(slices.Max(w[:top-1]))
	}
	wide := math.Log(highest / m)

	// The near outside: on average the r nearest outsiders of each member.
	// Nearest, not typical, as in a torus nearly all are far.
	near := 1
	if outsiders >= 8 {
		near = 2
	}
	all := len(outside)
	low := max(0, min((all-1)/4, near*all/outsiders-1)) // near*members-1 if nothing is missing
	next := max(low, min((all-1)/2, 4*near*all/outsiders-1))
	bn := float64(stats.Select(outside, next))
	bl := float64(stats.Select(outside[:next+1], low))
	step := math.Log(bl / m)
	if g.gapped {
		g.border[at] = border{
			inHigh: math.Log(float64(stats.Quantile(w, 0.75))),
			outLow: math.Log(bl), outHigh: math.Log(float64(stats.Quantile(outside, 0.75))),
		}
	}
	ratio := step / (wide + math.Log(bn/bl) + ratioFloor)
	few := stepFew / math.Sqrt(float64(len(w))*float64(all))
	strict := logistic((step-stepNeeded-few)/stepWidth) * logistic((ratio-ratioNeeded)/ratioWidth)

	// Where the near outside is not even half a step away, noise is no excuse.
	support := strict
	if t.size(v) >= 3 && step >= stepNeeded/2 {
		columns, rest := g.readColumns(v)
		if strict < weakCeiling {
			support = max(strict, weakCeiling*g.rescue(v, columns, rest, step, math.Log(second/m)))
		}
		support *= g.alike(rest, step)
	}
	g.support[at], g.step[at] = support, step
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

// readWithin returns the measured readings between different children of v:
// all, or a sample.
func (g *judge) readWithin(v int32) []float32 {
	t := g.t
	pairs := t.size(v) * t.size(v)
	for _, c := range t.kids(v) {
		pairs -= t.size(c) * t.size(c)
	}
	stride := (pairs/2-1)/mostWithin + 1
	g.within = g.within[:0]
	skip := 0
	for _, c := range t.kids(v) {
		for p := t.lo[c]; p < t.hi[c]; p++ {
			partners := t.order[t.hi[c]:t.hi[v]]
			for ; skip < len(partners); skip += stride {
				if x := g.r.at(int(t.order[p]), int(partners[skip])); x > 0 {
					g.within = append(g.within, x)
				}
			}
			skip -= len(partners)
		}
	}
	return g.within
}

// outsiders returns the hosts of v's parent outside v, in two ranges.
func (g *judge) outsiders(v int32) [2][]int32 {
	t := g.t
	p := t.parent[v]
	return [2][]int32{t.order[t.lo[p]:t.lo[v]], t.order[t.hi[v]:t.hi[p]]}
}

// insiders returns the members of v whose readings to the outside are looked at: all,
// or an even choice. Outsiders are never thinned: the nearest count.
func (g *judge) insiders(v int32) []int32 {
	leaves := g.t.leaves(v)
	out := g.t.size(g.t.parent[v]) - len(leaves)
	most := max(1, mostOutside/out)
	if len(leaves) <= most {
		return leaves
	}
	some := make([]int32, most)
	for k := range some {
		some[k] = leaves[k*len(leaves)/most]
	}
	return some
}

// readOutside returns the measured readings between members of v and outsiders.
func (g *judge) readOutside(v int32) []float32 {
	g.outside = g.outside[:0]
	for _, i := range g.insiders(v) {
		for _, part := range g.outsiders(v) {
			for _, j := range part {
				if x := g.r.at(int(i), int(j)); x > 0 {
					g.outside = append(g.outside, x)
				}
			}
		}
	}
	return g.outside
}

// readColumns returns for each outsider of v the lower median of its readings to
// the members, and of every reading by which factor it is off that.
func (g *judge) readColumns(v int32) (columns, rest []float32) {
	columns, rest = g.columns[:0], g.rest[:0]
	in := g.insiders(v)
	for _, part := range g.outsiders(v) {
		for _, j := range part {
			g.column = g.column[:0]
			for _, i := range in {
				if x := g.r.at(int(i), int(j)); x > 0 {
					g.column = append(g.column, x)
				}
			}
			if len(g.column) == 0 {
				continue
			}
			c := stats.LowerMedian(g.column)
			columns = append(columns, c)
			if g.gapped && len(g.column) < columnLeast {
				continue
			}
			for _, x := range g.column {
				rest = append(rest, max(x, c)/min(x, c))
			}
		}
	}
	g.columns, g.rest = columns, rest
	return columns, rest
}

// alike says whether the members of a group are equally far from each outsider, as
// hosts on one switch or in one socket are. Those of a piece of a mesh, ring or torus are
// not: one is nearer, another farther. rest is that of readColumns.
func (g *judge) alike(rest []float32, step float64) float64 {
	if len(rest) == 0 {
		return weakCeiling // no outsider was measured from enough members
	}
	uneven := math.Log(float64(stats.Quantile(rest, 0.75)))
	bound := unevenMost
	if !math.IsNaN(g.noise) {
		bound = max(bound, 2*quartile*g.noise)
	}
	return 1 - logistic((uneven-bound)/unevenWidth)*logistic((uneven/step-unevenShare)/unevenShareWidth)
}

// rescue says how well noise explains that the strict judgement failed. After
// averaging over members and outsiders the step is there, the spread that
// remains is small enough to be measurement noise, and that much noise
// explains both why near outsiders seem nearer than they are and why members
// seem farther apart. step and second are the step of the strict judgement and
// ln of the second largest inside reading over the typical one.
func (g *judge) rescue(v int32, columns, rest []float32, step, second float64) float64 {
	t := g.t
	var members []float32
	for _, c := range t.kids(v) {
		for p := t.lo[c]; p < t.hi[c]; p++ {
			i := t.order[p]
			g.member = g.member[:0]
			for q := t.lo[v]; q < t.hi[v]; q++ {
				if q >= t.lo[c] && q < t.hi[c] {
					continue
				}
				if x := g.r.at(int(i), int(t.order[q])); x > 0 {
					g.member = append(g.member, x)
				}
			}
			if len(g.member) > 0 {
				members = append(members, stats.LowerMedian(g.member))
			}
		}
	}
	if len(rest) == 0 || len(members) == 0 {
		return 0
	}
	noise := 1.4826 * math.Log(float64(stats.LowerMedian(rest)))
	averaged := math.Log(float64(stats.Quantile(columns, 0.1)) / float64(stats.Quantile(members, 0.75)))
	// The spread of a mesh is above 7 %, or not explained by its noise. Where
	// repetitions tell the noise, spread beyond it is structure: that halves the
	// weak groups that do not exist. (To let such a rescue make groups firm was tried:
	// it invents some in 1 % of runs with 5 % of noise.)
	bound := 0.07
	if !math.IsNaN(g.noise) {
		bound = min(bound, 1.5*g.noise+0.01)
	}
	// 3.5 noise: the extreme of a thousand normal readings is 3.2 sigma.
	return logistic((averaged-stepNeeded)/0.01) *
		logistic((bound-noise)/0.008) *
		logistic((3.5*noise+0.02-(averaged-step))/0.005) *
		logistic((3*noise+0.03-second)/0.01)
}

// keepAbove is the support below which a group is taken out of the tree, so
// that its parent and children are judged without it. Lenient, as a low support
// costs nothing.
const keepAbove = 0.05

// eliminate judges all groups, and takes out those without support until all
// that remain have some: the worst third of them at a time, but never a group
// whose parent or child went in the same pass, as its verdict is out of date.
func (g *judge) eliminate() {
	t := g.t
	g.support = make([]float64, len(t.children))
	g.step = make([]float64, len(t.children))
	g.border = make([]border, len(t.children))
	g.support[int(t.root)-t.n] = 1
	for _, v := range t.groups() {
		if v != t.root {
			g.judge(v)
		}
	}
	for {
		var out []int32
		for _, v := range t.groups() {
			if v != t.root && g.support[int(v)-t.n] < keepAbove {
				out = append(out, v)
			}
		}
		if len(out) == 0 {
			return
		}
		slices.SortFunc(out, func(a, b int32) int {
			i, j := int(a)-t.n, int(b)-t.n
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
			p := t.parent[v]
			kids := t.kids(v)
			touched[p] = true
			again[p] = true
			for _, c := range kids {
				touched[c] = true
				if t.isGroup(c) {
					again[c] = true
				}
			}
			t.splice(v)
		}
		for _, v := range t.groups() {
			if again[v] && v != t.root {
				g.judge(v)
			}
		}
	}
}

// reported is the least support of a group that is shown, though weak.
const reported = 0.5

// lonely lowers the support of groups that stand alone among their siblings. A
// level of a machine shows in more than one place; one group among ungrouped
// peers is a fast corner (the half nearest the timed cache line), a slow rest, or an
// accident of one host. A group counts as deep as its firm groups nest; if it is
// deeper than each of its siblings, it is not firm.
func (g *judge) lonely() {
	t := g.t
	groups := t.groups()
	depth := make([]int, len(t.children)) // firm groups on the longest way down
	for k := len(groups) - 1; k >= 0; k-- {
		v := groups[k]
		at := int(v) - t.n
		for _, c := range t.kids(v) {
			if t.isGroup(c) {
				depth[at] = max(depth[at], depth[int(c)-t.n])
			}
		}
		if g.support[at] >= FirmSupport {
			depth[at]++
		}
	}
	height := func(v int32) int { // a group counts even if not firm
		if !t.isGroup(v) {
			return 0
		}
		return max(1, depth[int(v)-t.n])
	}
	lowered := slices.Clone(g.support)
	for _, v := range groups {
		if v == t.root {
			continue
		}
		at := int(v) - t.n
		p := t.parent[v]
		for p != t.root && g.support[int(p)-t.n] < reported {
			p = t.parent[p]
		}
		siblings, deepest := 0, 0
		var visit func(p int32)
		visit = func(p int32) {
			for _, c := range t.kids(p) {
				switch {
				case c == v:
				case t.isGroup(c) && g.support[int(c)-t.n] < reported:
					visit(c)
				default:
					siblings++
					deepest = max(deepest, height(c))
				}
			}
		}
		visit(p)
		if siblings > 0 && deepest < height(v) {
			lowered[at] = min(lowered[at], weakCeiling)
		}
	}
	g.support = lowered
}
