package concurrent

import (
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// How many patterns ForDiscover makes.
const (
	UsualPatterns = 30 // fit.Network wants some thirty for intervals that hold what they promise
	randomShare   = 2  // one in so many is random at least
	triesOfLink   = 2  // groups of each level, and ranks, whose link is tried
)

// The size of one pattern.
const (
	mostAcross = 24 // transfers over one uplink, so many as saturate one that is eight times as fast as its hosts' links
	partners   = 3  // of a link's ranks at least, where there are: no two ranks then send to each other
	mostRandom = 64 // ranks in a random pattern: its transfers grow with them, and fit.Network plays each many times
)

// ForDiscover makes the patterns that tell how the links of a machine of known
// groups are shared, at most so many, for Measure and then fit.Network. The links of single
// ranks are a class, and so are those above the groups of each level. For each class there are two
// transfers in and one out over one link, and two out and one in. They tell how its two directions
// disturb each other (Zhu et al. 2014, section 5.2). Uplinks get as many times
// that as there are ranks on both sides. Before it they get one transfer out of each, which may
// tell the bandwidth (section 5.1). Two links of each class are tried, while these
// patterns are at most half of all. The rest are random patterns with d = 1, 2 and 3 in
// turn, which refine the fit. The fit holds some of them out to learn how far off it is.
//
// Each message has the given size in bytes, which is to take some hundred times
// the latency. The same arguments give the same patterns. There are none for fewer than 3 ranks.
// O(patterns * ranks).
func ForDiscover(h *topology.Hierarchy, bytes int64, most int, seed uint64) [][]model.Transfer {
	ranks := h.Hosts()
	if ranks < 3 {
		return nil
	}
	d := designer{h: h, rng: rand.New(rand.NewPCG(seed, 2)), bytes: bytes}
	var patterns [][]model.Transfer
	for range triesOfLink {
		rank := d.rng.IntN(ranks)
		patterns = append(patterns, d.across([]int{rank}, h.Smallest(rank))...)
		for level := range h.Levels() {
			if groups := h.GroupsAt(level); len(groups) > 0 {
				g := groups[d.rng.IntN(len(groups))]
				patterns = append(patterns, d.across(g.Hosts, g.Parent)...)
			}
		}
	}
	patterns = patterns[:min(len(patterns), most/randomShare)]
	for k := 0; len(patterns) < most; k++ {
		patterns = append(patterns, d.random(1+k%3))
	}
	return patterns
}

// A designer makes patterns on the groups of a machine.
type designer struct {
	h     *topology.Hierarchy
	rng   *rand.Rand
	bytes int64
}

// across are patterns over the link above some ranks: one out of all if they are several, one of two in
// and one out, and the reverse. The other ends are ranks of the next group above that has some, so that
// no other link is in the way. There is no link above all ranks.
func (d *designer) across(inside []int, above int) [][]model.Transfer {
	var within, outside []int
	for ; above >= 0 && len(outside) < partners; above = d.h.Groups()[above].Parent {
		within, outside = nil, nil
		for _, rank := range d.spread(above) {
			if slices.Contains(inside, rank) {
				within = append(within, rank)
			} else {
				outside = append(outside, rank)
			}
		}
	}
	if len(outside) < 2 {
		return nil
	}
	times := 1
	var patterns [][]model.Transfer
	if len(within) > 1 {
		most := min(len(within), len(outside), mostAcross)
		times = max(1, most/3)
		var all []model.Transfer
		for k := range most {
			all = append(all, model.Transfer{Src: within[k], Dst: outside[k], Bytes: d.bytes})
		}
		patterns = append(patterns, all)
	}
	var in, out []model.Transfer
	for k := range 3 * times {
		a, b := within[k%len(within)], outside[k%len(outside)]
		if k%3 == 2 {
			a, b = b, a
		}
		in = append(in, model.Transfer{Src: b, Dst: a, Bytes: d.bytes})
		out = append(out, model.Transfer{Src: a, Dst: b, Bytes: d.bytes})
	}
	return append(patterns, in, out)
}

// spread are the ranks of a group, in random order but for this: those that follow
// each other are of different parts of the group as long as there are.
func (d *designer) spread(group int) []int {
	g := d.h.Groups()[group]
	parts := harness.Parts(d.h, group)
	for i, child := range g.Children {
		parts[i] = d.spread(child)
	}
	d.rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	var ranks []int
	for k := 0; len(ranks) < len(g.Hosts); k++ {
		for _, part := range parts {
			if k < len(part) {
				ranks = append(ranks, part[k])
			}
		}
	}
	return ranks
}

// random is a random pattern of some ranks.
func (d *designer) random(degree int) []model.Transfer {
	ranks := d.spread(0)
	ranks = ranks[:min(len(ranks), mostRandom)]
	ranksOf := make([][]int, len(ranks))
	for i, rank := range ranks {
		ranksOf[i] = []int{rank}
	}
	return RandomPattern(d.rng, ranksOf, degree, d.bytes)
}
