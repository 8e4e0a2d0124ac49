package adaptive

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

const (
	// Readings of a slow host to each child of a group, of which the median counts.
	slowReadings = 3
	// A child is the nearest if it is nearer than the median of the others by this share of the least step of levels, and by
	// so many standard deviations: the least of many medians is lucky.
	slowStep, slowSigmas = 0.5, 3
)

// A stray is a host whose level is that of no group: it looks for the group to which it is nearest, whatever the
// factor by which it is slow.
type stray struct {
	x, v int32
}

// A question is two vertices of whose hosts some pair is to be read.
type question struct{ a, b int32 }

// strays are the hosts that no level explains, and those that are alone at a level that the core has not seen: slow hosts
// see levels of their own.
func (f *finding) strays() []int32 {
	t := f.tree
	list := slices.Clone(f.odd)
	for _, v := range t.all() {
		if at := t.levelOf(v); at == 0 || !f.late(at) {
			continue
		}
		for _, c := range t.kids(v) {
			if !t.isGroup(c) {
				list = append(list, c)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// late tells whether a level came up after the core.
func (f *finding) late(level int) bool {
	for _, z := range f.first {
		if math.Abs(z-f.levels.at[level]) < leastStep {
			return false
		}
	}
	return true
}

// relocate takes the strays out and puts them into the groups to which they are nearest: from the root on into the child that
// is clearly nearer than the others, as long as there is one. Who is not slow comes back to its place.
func (f *finding) relocate() error {
	whole := f.tree
	gone := make(map[int32]bool)
	for { // without some of them others are alone
		list := f.strays()
		if len(list) == len(gone) {
			break
		}
		if float64(len(list)) > exceptions*float64(f.ledger.hosts) {
			f.tree = whole
			return nil
		}
		f.odd, gone = list, setOf(list)
		f.tree = whole.without(gone)
	}
	rest := f.tree
	if len(gone) == 0 || len(rest.all()) == 0 {
		f.tree = whole
		return nil
	}
	var active, placed []*stray
	root := rest.kids(rest.top())[0]
	for _, h := range f.odd {
		active = append(active, &stray{h, root})
	}
	for len(active) > 0 {
		var open []question
		for _, s := range active {
			for _, c := range rest.kids(s.v) {
				for range slowReadings {
					open = append(open, question{s.x, c})
				}
			}
		}
		from := len(f.ledger.log)
		if err := f.answer(open); err != nil {
			return err
		}
		near := make(map[question][]float64)
		for _, r := range f.ledger.log[from:] {
			x, y := r.A, r.B
			if !gone[x] {
				x, y = y, x
			}
			for _, s := range active {
				if s.x == x {
					q := question{x, rest.below(s.v, y)}
					near[q] = append(near[q], math.Log(float64(r.Latency)))
				}
			}
		}
		left := active[:0]
		for _, s := range active {
			c := f.nearest(s, near)
			isGroup := c != none && rest.isGroup(c)
			if isGroup {
				s.v = c
			}
			if isGroup && rest.levelOf(c) > 0 {
				left = append(left, s)
			} else {
				placed = append(placed, s)
			}
		}
		active = left
	}
	for _, s := range placed { // at the end: they are nobody's nearest
		rest.add(s.x, s.v)
	}
	return nil
}

// nearest is the child of its group to which a stray is clearly nearer than to the others; none if there is none.
func (f *finding) nearest(s *stray, near map[question][]float64) int32 {
	best, least := none, math.Inf(1)
	var others []float64
	for _, c := range f.tree.kids(s.v) {
		z := stats.Median(near[question{s.x, c}])
		if math.IsNaN(z) {
			continue
		}
		if z < least {
			if best != none {
				others = append(others, least)
			}
			best, least = c, z
		} else {
			others = append(others, z)
		}
	}
	if len(others) == 0 {
		return none
	}
	step := math.Inf(1)
	for k := 1; k < len(f.levels.at); k++ {
		if !f.late(k) && !f.late(k-1) {
			step = min(step, f.levels.at[k]-f.levels.at[k-1])
		}
	}
	if math.IsInf(step, 1) {
		step = 0
	}
	if stats.Median(others)-least < max(slowStep*step, slowSigmas*f.core.noise, leastStep) {
		return none
	}
	return best
}

// answer reads a pair of each question.
func (in *inserter) answer(open []question) error {
	for len(open) > 0 {
		in.ledger.open()
		left := open[:0]
		for _, q := range open {
			if !in.pose(q) {
				left = append(left, q)
			}
		}
		open = left
		if _, err := in.ledger.read(); err != nil {
			return err
		}
	}
	return nil
}

// pose puts a pair of free hosts into the round.
func (in *inserter) pose(q question) bool {
	for range tries {
		a, b := in.tree.some(q.a, in.rng), in.tree.some(q.b, in.rng)
		if in.ledger.free(a) && in.ledger.free(b) {
			in.ledger.add(a, b)
			return true
		}
	}
	return false
}
