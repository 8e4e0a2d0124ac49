package adaptive

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

const (
	// Measurements of a stray and each child of a group, of which the lowest counts: noise goes up.
	strayMeasurements = 3
	// A child is the nearest if it is nearer than the median of the others by this share of the least step of levels. It has to
	// be so by so many standard deviations, too: the least of many medians is lucky.
	nearStep, nearSigmas = 0.5, 3
)

// alone are the hosts that are alone, or by twos, at a level that the core has not seen: slow hosts see levels of their own.
func (f *finding) alone() (hosts []int32) {
	t := f.tree
	for _, v := range t.all() {
		if t.levelOf(v) == 0 || !f.late(t.levelOf(v)) {
			continue
		}
		for _, c := range t.kids(v) {
			if t.size(c) <= 2 {
				hosts = append(hosts, t.members(c)...)
			}
		}
	}
	slices.Sort(hosts) // of two levels within each other both may name a host
	return slices.Compact(hosts)
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

// A question is of a stray and a child of the group in which it lies, of whose hosts some are to be read.
type question struct {
	stray, child int32
	asked        int
	z            []float64
}

// placeStrays puts the strays into the groups to which they are nearest, whatever the factor by which they are slow: from the
// root on into the child that is clearly nearer than the others, as long as there is one.
func (f *finding) placeStrays() (err error) {
	place := make(map[int32]int32) // of each stray, so far
	for _, h := range f.strays {
		place[h] = f.tree.kids(f.tree.top())[0]
	}
	for open := slices.Clone(f.strays); len(open) > 0; {
		of := make(map[int32][]*question)
		var left []*question
		for _, h := range open {
			for _, c := range f.tree.kids(place[h]) {
				q := &question{stray: h, child: c}
				of[h], left = append(of[h], q), append(left, q)
			}
		}
		for len(left) > 0 {
			left, err = round(f.ledger, left, f.pose, func(q *question, p pair, z float64) bool {
				if p != nobody {
					q.asked++
				}
				if !math.IsNaN(z) {
					q.z = append(q.z, z)
				}
				return q.asked == strayMeasurements
			})
			if err != nil {
				return err
			}
		}
		open = slices.DeleteFunc(open, func(h int32) bool {
			c := f.nearest(of[h])
			if c == none || !f.tree.isGroup(c) {
				return true
			}
			place[h] = c
			return f.tree.levelOf(c) == 0
		})
	}
	for _, h := range f.strays { // at the end: they are nobody's nearest
		f.tree.add(h, place[h])
	}
	return nil
}

// pose is a pair that answers a question.
func (f *finding) pose(q *question) pair {
	for range tries {
		if b := f.tree.some(q.child, f.rng); f.ledger.free(q.stray) && f.ledger.free(b) {
			return pair{q.stray, b}
		}
	}
	return nobody
}

// nearest is the child to which a stray is clearly nearer than to the others; none if there is none.
func (f *finding) nearest(asked []*question) int32 {
	best, least := none, math.Inf(1)
	var all []float64
	for _, q := range asked {
		if len(q.z) == 0 {
			continue
		}
		z := slices.Min(q.z)
		all = append(all, z)
		if z < least {
			best, least = q.child, z
		}
	}
	if len(all) < 2 {
		return none
	}
	slices.Sort(all)
	step := math.Inf(1)
	for k := 1; k < len(f.levels.at); k++ {
		if !f.late(k) && !f.late(k-1) {
			step = min(step, f.levels.at[k]-f.levels.at[k-1])
		}
	}
	if math.IsInf(step, 1) {
		step = 0
	}
	if stats.LowerMedian(all[1:])-least < max(nearStep*step, nearSigmas*f.core.noise, leastStep) {
		return none
	}
	return best
}
