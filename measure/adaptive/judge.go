package adaptive

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/support"
)

const (
	// A pair that reads more than this times the median is read again: it may be an outlier.
	outlierInside = 1.3
	// Readings to near siblings at least, as far as there are any. The two nearest siblings are near; one in
	// two or three.
	nearReadings, nearSiblings, fewSiblings = 6, 2, 4
)

// A proof is what was read of one group.
type proof struct {
	inside  []Reading           // between its children, as they were read
	within  []float32           // s, the same, one per pair
	outside map[int32][]reading // between its hosts and those of each sibling, one per pair
	slow    []question          // pairs that read far above the others, of which a second reading tells whether they are
}

// A reading to the outside of a group, by one of its hosts.
type reading struct {
	host int32
	s    float32
}

// proofs sorts the readings by the groups of which they tell. Those of a pair become one, see perPair. O(r log r) for r readings, times depth.
func (f *finding) proofs() map[int32]*proof {
	t := f.tree
	all := make(map[int32]*proof)
	for _, v := range t.all() {
		all[v] = &proof{outside: make(map[int32][]reading)}
	}
	odd := setOf(f.odd)
	outside := make(map[int32][]Reading) // of the children of a group, by the child
	for _, r := range f.ledger.log {
		if odd[r.A] || odd[r.B] { // slow to all, they say nothing of others
			continue
		}
		v, a, b := t.common(r.A, r.B)
		if v == t.top() {
			continue
		}
		all[v].inside = append(all[v].inside, Reading{Pair{min(r.A, r.B), max(r.A, r.B)}, r.Round, r.Latency})
		if t.isGroup(a) {
			outside[a] = append(outside[a], r)
		}
		if t.isGroup(b) {
			outside[b] = append(outside[b], Reading{Pair{r.B, r.A}, r.Round, r.Latency})
		}
	}
	for v, p := range all {
		pairs := perPair(p.inside)
		p.slow = slowest(p.slow, pairs)
		for _, r := range pairs {
			p.within = append(p.within, r.Latency)
		}
		pairs = perPair(outside[v])
		p.slow = slowest(p.slow, pairs)
		for _, r := range pairs {
			c := t.below(t.parent[v], r.B)
			p.outside[c] = append(p.outside[c], reading{r.A, r.Latency})
		}
	}
	return all
}

// perPair makes one reading of those of each pair, as everywhere (readings.Combine). It sorts them.
func perPair(list []Reading) []Reading {
	slices.SortFunc(list, func(x, y Reading) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(x.Latency, y.Latency))
	})
	var all []Reading
	var values []float64
	for k, r := range list {
		values = append(values, float64(r.Latency))
		if k+1 < len(list) && list[k+1].Pair == r.Pair {
			continue
		}
		r.Latency = float32(readings.Combine(values))
		all, values = append(all, r), values[:0]
	}
	return all
}

// slowest appends the pairs that read so much above the median that an outlier is to be suspected.
func slowest(dst []question, pairs []Reading) []question {
	if len(pairs) == 0 {
		return dst
	}
	values := make([]float32, len(pairs))
	for k, r := range pairs {
		values[k] = r.Latency
	}
	limit := outlierInside * stats.LowerMedian(values)
	for _, r := range pairs {
		if r.Latency > limit {
			dst = append(dst, question{r.A, r.B})
		}
	}
	return dst
}

// support judges group v, which is not the root, as linkage.Robust does, on the readings there are. Near are the
// siblings that are nearest. As all hosts of a sibling are alike to v, its readings stand for it.
func (f *finding) support(v int32, p *proof) float64 {
	t := f.tree
	parent := t.parent[v]
	// Children are held together by readings of their own: where they are groups they are the units of which
	// the group is made, and not their hosts.
	members, around := t.size(v), t.size(parent)
	if slices.ContainsFunc(t.kids(v), t.isGroup) {
		members, around = len(t.kids(v)), 0
		for _, c := range t.kids(parent) {
			around++
			if t.isGroup(c) {
				around += len(t.kids(c)) - 1
			}
		}
	}
	kids, beside := float64(len(t.kids(v))), float64(len(t.kids(parent))-1)
	outside, siblings := p.around()
	if len(p.within) == 0 || len(outside) == 0 {
		return 0
	}
	var near []float32
	for k, s := range siblings {
		if (k >= nearSiblings || len(siblings) < fewSiblings && k > 0) && len(near) >= nearReadings {
			break
		}
		near = append(near, s.read...)
	}
	slices.Sort(outside)
	middle := float64(outside[(len(outside)-1)/2])
	within := slices.Clone(p.within)
	slices.Sort(within)
	sum := 0.0
	for _, x := range within {
		sum += float64(x)
	}
	count := float64(len(within))
	inside, border := float64(within[(len(within)-1)/2]), float64(stats.LowerMedian(near))
	e := support.Evidence{
		Hosts: float64(t.n) * float64(around) / float64(t.size(parent)), Around: float64(around), Members: float64(members),
		Inside:  float64(len(p.inside) - len(p.within) + len(within)),
		Links:   min(kids*(kids-1)/2, count),
		Borders: min(kids*beside, float64(len(outside))),
		White:   f.core.noise,
		Spread:  spread(outside, middle),
		Mean:    math.Log(middle * count / sum),
		Ticks:   (border - inside) / f.core.tick, // +Inf where no tick is seen
		Near:    support.Contrast{Step: math.Log(border / inside), Overlap: support.Overlap(within, near, 1)},
		Uneven:  p.uneven(),
		Mates:   support.NoiseOfMembers(f.core.noise),
	}
	e.Average = e.Near
	return e.Support()
}

// around are the readings to the outside, and the siblings to which they were, the nearest first.
func (p *proof) around() (outside []float32, siblings []sibling) {
	for c, of := range p.outside {
		s := sibling{vertex: c}
		for _, r := range of {
			outside = append(outside, r.s)
			s.read = append(s.read, r.s)
		}
		s.near = stats.LowerMedian(s.read)
		siblings = append(siblings, s)
	}
	slices.SortFunc(siblings, func(a, b sibling) int {
		switch {
		case a.near < b.near:
			return -1
		case a.near > b.near:
			return 1
		}
		return int(a.vertex - b.vertex)
	})
	return outside, siblings
}

// A sibling is another child of a group's parent.
type sibling struct {
	vertex int32
	read   []float32 // s
	near   float32   // their median
}

// spread is the standard deviation of readings, in ln units, from their median deviation.
func spread(values []float32, middle float64) float64 {
	logs := make([]float64, len(values))
	for k, x := range values {
		logs[k] = math.Log(float64(x) / middle)
	}
	return stats.SigmaAbout(0, logs)
}

// uneven is how differently two hosts of the group see a sibling, in ln units; NaN if no two were read to one.
func (p *proof) uneven() float64 {
	var siblings []int32
	for c := range p.outside {
		siblings = append(siblings, c)
	}
	slices.Sort(siblings)
	var differ []float64
	for _, c := range siblings {
		of := p.outside[c]
		for k := 1; k < len(of); k++ {
			if of[k].host != of[k-1].host {
				differ = append(differ, math.Abs(math.Log(float64(of[k].s/of[k-1].s))))
			}
		}
	}
	if len(differ) == 0 {
		return math.NaN()
	}
	return stats.Quantile(differ, support.UnevenQuantile)
}
