package bcast

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
)

// A cell is what is chosen for a class of sizes and one of roots.
type cell struct {
	predict.Candidate
	decided bool                // false: the time ran out, and so the library's own broadcast stays
	pairs   int                 // that the choice rests on
}

// A cellKey names a cell.
type cellKey struct {
	size int // class of sizes
	root int // class of roots; where nothing is timed, the root
}

// key is that of the cell for a size of at least 1 and a root.
func (b *Broadcaster) key(bytes, root int) cellKey {
	if b.timed() {
		root = b.rootClass(root)
	}
	return cellKey{classOf(bytes), root}
}

// timed tells whether choices are made by timing. Otherwise each root follows its predictions.
func (b *Broadcaster) timed() bool { return b.native != nil && !b.modelOnly }

// rootClass is the class of a rank as a root.
func (b *Broadcaster) rootClass(rank int) int {
	if !b.classified {
		b.classes, b.classified = table.RootClasses(b.known.tree), true
	}
	if b.classes == nil {
		return 0
	}
	return b.classes[rank]
}

// sampled are the roots from which ways are compared on behalf of the class of a root: that one, and
// others spread over the class.
func (b *Broadcaster) sampled(root int) []int {
	if !b.timed() { // each root has its own choice
		return []int{root}
	}
	var class []int
	at := 0
	for rank := range b.ranks {
		if b.rootClass(rank) == b.rootClass(root) {
			if rank == root {
				at = len(class)
			}
			class = append(class, rank)
		}
	}
	n := min(tuner.MostRoots, len(class))
	roots := make([]int, n)
	for i := range roots {
		roots[i] = class[(at+i*len(class)/n)%len(class)]
	}
	return roots
}

// How many plans are timed first, the best by prediction and different from each other: up to tried if the best
// takes no longer than quick, in s, and triedSlow otherwise, and where there are few plans
// altogether. Predictions guess what software takes where that was not measured, and then order
// plans for short messages no better than within a third.
const (
	tried     = 12
	triedSlow = 5
	quick     = 10e-3
)

// decide is collective: it makes the route for the size of buf and the root, the same on all ranks, and
// broadcasts buf. budget is how long ways may be compared for that, in s.
func (b *Broadcaster) decide(buf []byte, root int, budget float64) error {
	key := b.key(len(buf), root)
	c := b.cells[key]
	if c != nil {
		return b.perform(b.enter(key, c, root, len(buf)), buf, root)
	}
	var err error
	if b.timed() {
		if budget, err = b.measureGroups(len(buf), budget); err != nil {
			return err
		}
	}
	most := 1
	if b.timed() {
		most = tried
	}
	plans, err := b.predicted(len(buf), root, most)
	if err != nil {
		return err
	}
	if !b.timed() {
		c = &cell{Candidate: plans[0], decided: true}
		b.cells[key] = c
		return b.perform(b.enter(key, c, root, len(buf)), buf, root)
	}
	library := b.newRoute(newNative(), root, len(buf))
	if err := b.perform(library, buf, root); err != nil { // from now on all ranks have the same bytes
		return err
	}
	if c, err = b.contest(plans, buf, root, budget); err != nil {
		return err
	}
	b.cells[key] = c
	b.enter(key, c, root, len(buf))
	return nil
}

// enter makes the route of a cell for a root.
func (b *Broadcaster) enter(key cellKey, c *cell, root, bytes int) *route {
	if b.routes[key.size] == nil {
		b.routes[key.size] = make([]*route, b.ranks)
	}
	r := b.newRoute(c.Candidate, root, bytes)
	r.cell = c
	if c.Index == native && 1<<key.size <= uint64(schedule.MaxSegment) {
		r.direct = b.native
	}
	b.routes[key.size][root] = r
	return r
}

// leave forgets the routes of a cell, which then are made anew.
func (b *Broadcaster) leave(key cellKey, c *cell) {
	for root, r := range b.routes[key.size] {
		if r != nil && r.cell == c {
			b.routes[key.size][root] = nil
		}
	}
}

// predicted is collective: all ranks get the root's best plans by prediction, at most so many. The root knows best
// what is fast for it; the others are told, as two machines may round predictions apart.
func (b *Broadcaster) predicted(bytes, root, most int) ([]predict.Candidate, error) {
	crew := newCrew(b.exec, root)
	var plans []predict.Candidate
	if crew.isRoot() {
		var err error
		if most > 1 {
			plans, err = b.shortlist(bytes, root, most)
		} else if plans, err = b.candidates(bytes, root); err == nil {
			plans = plans[:1]
		}
		if err != nil {
			return nil, err
		}
	}
	return b.tellPlans(crew, plans)
}

// shortlist are at most so many plans of the class of the size that are worth timing, of each topology the best of them.
func (b *Broadcaster) shortlist(bytes, root, most int) ([]predict.Candidate, error) {
	each := most
	plans, err := b.gathered(func(e *predict.Evaluator, list []schedule.Algorithm) []predict.Candidate {
		short := e.Shortlist(list, classBytes(bytes), root, most)
		few := bytes <= predict.MinSegment // all whole
		if few || !(short[0].Predicted <= quick) {
			each = triedSlow
		}
		return short[:min(each, len(short))]
	})
	if err != nil {
		return nil, err
	}
	plans = distinct(plans, nil)
	var kept []predict.Candidate
	for i, p := range plans {
		best := slices.IndexFunc(plans, func(q predict.Candidate) bool { return q.Topology == p.Topology }) == i
		if best || len(kept) < each {
			kept = append(kept, p)
		}
	}
	return kept, nil
}

// candidates are those of the class of the size.
func (b *Broadcaster) candidates(bytes, root int) ([]predict.Candidate, error) {
	return b.gathered(func(e *predict.Evaluator, list []schedule.Algorithm) []predict.Candidate {
		return e.Candidates(list, classBytes(bytes), root)
	})
}

// prepare makes the evaluator.
func (b *Broadcaster) prepare() error {
	if b.evaluator != nil {
		return nil
	}
	var err error
	b.evaluator, err = b.known.evaluator(b.ranks)
	if err == nil && b.exec.groups != nil {
		b.evaluator.MeasuredNative(b.exec.groups.times)
	}
	return err
}

// way is a plan for messages of the class of the given bytes, as the tuner knows it, from the given roots.
func (b *Broadcaster) way(c predict.Candidate, bytes int, roots []int) tuner.Way {
	if c.Index == native {
		r := b.newRoute(c, 0, bytes)
		return func(buf []byte, root int) error { return b.perform(r, buf, root) }
	}
	routes := make([]*route, len(roots))
	for i, root := range roots {
		routes[i] = b.newRoute(c, root, bytes)
	}
	return func(buf []byte, root int) error { return b.perform(routes[slices.Index(roots, root)], buf, root) }
}

func (b *Broadcaster) ways(plans []predict.Candidate, bytes int, roots []int) []tuner.Way {
	ways := make([]tuner.Way, len(plans))
	for i, p := range plans {
		ways[i] = b.way(p, bytes, roots)
	}
	return ways
}

// stopwatch is collective when it is called first.
func (b *Broadcaster) stopwatch() (*tuner.Stopwatch, error) {
	if b.watch == nil {
		watch, err := tuner.NewStopwatch(b.comm, b.exec.tag, b.hosts, b.crowded)
		if err != nil {
			return nil, fmt.Errorf("bcast: %w", err)
		}
		b.watch = watch
	}
	return b.watch, nil
}

// contest is collective: it looks for the best of the plans and what is like it, and keeps the library's own
// broadcast unless that is beaten. buf holds the same bytes on all ranks.
func (b *Broadcaster) contest(plans []predict.Candidate, buf []byte, root int, budget float64) (*cell, error) {
	watch, err := b.stopwatch()
	if err != nil {
		return nil, err
	}
	roots := b.sampled(root)
	contest := watch.Contest(roots, buf, b.crowded, budget)
	library := b.way(newNative(), len(buf), roots)
	ways := b.ways(plans, len(buf), roots)
	if err := contest.Warm(append([]tuner.Way{library}, ways...)...); err != nil {
		return nil, fmt.Errorf("bcast: %w", err)
	}
	ranked, err := contest.Best(ways)
	if err != nil {
		return nil, fmt.Errorf("bcast: %w", err)
	}
	best, err := b.refined(contest, plans[ranked[0]], len(buf), roots)
	if err != nil {
		return nil, err
	}
	verdict, err := contest.Beats(b.way(best, len(buf), roots), library)
	if err != nil {
		return nil, fmt.Errorf("bcast: %w", err)
	}
	best.Measured, best.MeasuredNative = verdict.Challenger.Cold, verdict.Incumbent.Cold
	c := &cell{Candidate: best, decided: verdict.Decided, pairs: verdict.Rounds}
	if !verdict.Wins {
		c.Candidate = newNative()
		c.Measured, c.MeasuredNative = best.MeasuredNative, best.MeasuredNative
	}
	return c, nil
}

// The segment of the best plan is moved by these factors, the larger first, for as long as that helps.
// Predictions err by that much where a network was measured under load, or a library
// changes how it sends.
var steps = [...]int{4, 2}

// refined is collective: it returns the plan with the segment, and the way to carry out its steps,
// that are measured to be best.
func (b *Broadcaster) refined(contest *tuner.Contest, best predict.Candidate, bytes int, roots []int) (predict.Candidate, error) {
	choose := func(near ...predict.Candidate) (bool, error) {
		list := append([]predict.Candidate{best}, near...)
		ranked, err := contest.Best(b.ways(list, bytes, roots))
		if err != nil {
			return false, fmt.Errorf("bcast: %w", err)
		}
		best = list[ranked[0]]
		return ranked[0] > 0, nil
	}
	coarse := best
	known := map[int]bool{best.Segment: true}
	for _, step := range steps {
		for moved := true; moved; {
			var near []predict.Candidate
			s := best.Segment
			if s == 0 {
				s = bytes
			}
			for _, segment := range []int{s / step, s * step} {
				if segment >= predict.MinSegment && segment < bytes && !known[segment] {
					known[segment] = true
					c := best
					c.Segment = segment
					near = append(near, c)
				}
			}
			if moved = len(near) > 0; moved {
				var err error
				if moved, err = choose(near...); err != nil {
					return best, err
				}
			}
		}
	}
	if !b.exec.blocking && bytes > short {
		other := best
		other.Blocking = true
		if _, err := choose(other); err != nil {
			return best, err
		}
	}
	if best.Segment == coarse.Segment {
		return best, nil
	}
	return b.predictedAgain(best, bytes, roots[0])
}

// predictedAgain is collective: the plan with the root's prediction of it.
func (b *Broadcaster) predictedAgain(c predict.Candidate, bytes, root int) (predict.Candidate, error) {
	crew := newCrew(b.exec, root)
	if crew.isRoot() {
		if err := b.prepare(); err != nil {
			return c, err
		}
		c.Predicted = b.evaluator.Sure(c.Algorithm, b.problem(c, root, classBytes(bytes)))
	}
	told := binary.LittleEndian.AppendUint64(nil, math.Float64bits(c.Predicted))
	err := crew.tell(told)
	c.Predicted = math.Float64frombits(binary.LittleEndian.Uint64(told))
	return c, err
}

// tellPlans is collective: all ranks get the root's candidates.
func (b *Broadcaster) tellPlans(c *crew, plans []predict.Candidate) ([]predict.Candidate, error) {
	const record = 40 // bytes
	var out []byte
	for _, p := range plans {
		out = binary.LittleEndian.AppendUint64(out, uint64(p.Index))
		out = binary.LittleEndian.AppendUint64(out, uint64(p.Segment))
		for _, v := range []float64{p.Predicted, p.Measured, p.MeasuredNative} {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	in, err := c.tellAny(out)
	if err != nil {
		return nil, err
	}
	plans = nil
	for ; len(in) >= record; in = in[record:] {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(in[8*i:]) }
		p := predict.Candidate{Index: int(word(0))}
		p.Segment = int(word(1))
		p.Predicted, p.Measured, p.MeasuredNative = math.Float64frombits(word(2)), math.Float64frombits(word(3)), math.Float64frombits(word(4))
		if p.Index != native {
			p.Algorithm, p.Topology = b.catalogue[p.Index], b.along(p.Index).Name
		}
		plans = append(plans, p)
	}
	return plans, nil
}
