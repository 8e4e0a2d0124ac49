package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// Doubt of a decision at which no further measurement is asked for. What is wrong after all is found by the
	// second look and by verification.
	tolerated = 2e-3
	// Doubt that a host is not in a child after all: there is a second look, and every two siblings are verified.
	toleratedLook = 5e-3
	// Most measurements of one question.
	mostMeasurements = 10
	// Measurements from which a level that nobody has seen is believed, and hosts that have to see it.
	measurementsOfNew, witnessesOfNew = 4, 3
	// Rounds without a measurement after which a host is given up.
	mostSilent = 10
	// Partners tried at random before the group is searched.
	tries = 6
)

// A task is a host that looks for its place. It lies in group v, and in none of the children of v that hold
// refuted hosts. It reads a random host of another child: if their level is that of v it is not in that
// child either; if less, it is, and goes on from the group of that level on the other's way up. In nested groups
// any two hosts of a group are alike to others. So any of them may answer, and the measurements
// of many hosts run at once.
type task struct {
	x, v    int32
	refuted []int32
	y       int32 // the host that the tally is about; none: choose
	tally   tally
	second  bool // all children were refuted once: a second look before a branch is opened
	silent  int  // rounds without a measurement
}

// An inserter finds the places of hosts.
type inserter struct {
	tree   *tree
	levels *levels
	ledger *ledger
	rng    *rand.Rand
	order  *order // nil: none is known

	news    []sighting // of levels that nobody has seen
	again   bool       // a new level was found: all has to begin anew, as decisions were made without it
	strays  []int32    // hosts that no level explains: they get their place when all others have theirs
	marks   map[int32]bool
	scratch tally
}

// A sighting is what a host reads of a level that is not known.
type sighting struct {
	host  int32
	value float64
}

// insert places the given hosts, until a new level is found.
func (in *inserter) insert(hosts []int32) (err error) {
	in.marks, in.again = make(map[int32]bool), false
	var active []*task
	for len(active) > 0 || len(hosts) > 0 {
		for len(hosts) > 0 && len(active) < in.atOnce() {
			x := hosts[0]
			hosts = hosts[1:]
			if in.tree.placed() == 0 {
				in.tree.add(x, in.tree.top())
				continue
			}
			active = append(active, &task{x: x, v: in.tree.top(), y: none})
		}
		if active, err = round(in.ledger, active, in.partner, in.take); err != nil || in.again {
			return err
		}
	}
	return nil
}

// take takes in what a host has read, and tells whether it has its place.
func (in *inserter) take(t *task, p pair, z float64) (done bool) {
	switch {
	case in.again:
		return true
	case p == nobody: // there was no one to ask
		return in.close(t)
	case !math.IsNaN(z):
		t.tally.add(z, in.levels)
		return in.decide(t)
	}
	if t.silent++; t.silent == mostSilent {
		return in.giveUp(t)
	}
	return false
}

// neighboursFirst is how many times as many hosts have a place as look for one where hosts are in an order: who looks
// while those next to it do finds nobody to go by.
const neighboursFirst = 4

// atOnce is how many hosts look for a place at once: as many as there are to answer, for the first to be placed answer
// next.
func (in *inserter) atOnce() int {
	if in.order != nil {
		return max(1, in.tree.placed()/neighboursFirst)
	}
	return max(1, in.tree.placed())
}

// partner is the pair that t reads next; nobody if no host is free.
func (in *inserter) partner(t *task) pair {
	y := in.other(t)
	if y == none {
		return nobody
	}
	return pair{t.x, y}
}

// other is the host that t reads next, none if there is no free one.
func (in *inserter) other(t *task) int32 {
	tr := in.tree
	if t.y != none {
		return in.same(t)
	}
	choose := func(y int32) int32 {
		in.question(t, y)
		return y
	}
	closed := in.closed(t)
	if y := in.order.next(t, in, closed); y != none {
		return choose(y)
	}
	for range tries {
		y := tr.some(t.v, in.rng)
		if in.ledger.free(y) && !closed[tr.childOf(t.v, y)] {
			return choose(y)
		}
	}
	if len(closed) == len(tr.kids(t.v)) {
		return none
	}
	// The children that are left, from a random one on.
	kids := tr.kids(t.v)
	from := in.rng.IntN(len(kids))
	for k := range kids {
		c := kids[(from+k)%len(kids)]
		if closed[c] {
			continue
		}
		for range tries {
			if y := tr.some(c, in.rng); in.ledger.free(y) {
				return choose(y)
			}
		}
	}
	return none
}

// question makes t ask of the child of its group that holds y.
func (in *inserter) question(t *task, y int32) {
	t.y = y
	t.tally.clear(len(in.levels.at))
}

// same is a host that answers t's question as well as t.y: another one of the largest group around it
// that lies below all levels in doubt.
func (in *inserter) same(t *task) int32 {
	tr := in.tree
	around := t.y
	if len(t.tally.z) > 0 {
		v := t.tally.judge(in.levels, in.most(t))
		low := v.level
		if v.second >= 0 {
			low = min(low, v.second)
		}
		if v.unknown {
			low, _ = slices.BinarySearch(in.levels.at, v.value)
		}
		for p := tr.parent[around]; p != none && p != t.v && tr.levelOf(p) < low; p = tr.parent[p] {
			around = p
		}
	}
	for range tries {
		if y := tr.some(around, in.rng); in.ledger.free(y) {
			return y
		}
	}
	return none
}

// closed are the children of t.v that t is not in. The map is used again by the next call.
func (in *inserter) closed(t *task) map[int32]bool {
	clear(in.marks)
	for _, y := range t.refuted {
		in.marks[in.tree.childOf(t.v, y)] = true
	}
	return in.marks
}

// most is the highest level that is expected of what t reads.
func (in *inserter) most(t *task) int {
	if t.v == in.tree.top() {
		return aboveAll
	}
	return in.tree.levelOf(t.v)
}

// decide tells what follows from the measurements of t: done if it has its place.
func (in *inserter) decide(t *task) (done bool) {
	tr := in.tree
	most := in.most(t)
	v := t.tally.judge(in.levels, most)
	count := len(t.tally.z)
	if v.unknown {
		switch {
		case count < measurementsOfNew || !v.agree && count < mostMeasurements:
			return false
		case v.agree && in.levels.news(v.value):
			in.again = in.noteUnknownLevel(t.x, v.value)
		}
		return in.giveUp(t) // where nobody else has seen the level yet, it waits until somebody has
	}
	limit := tolerated
	if v.level == most {
		limit = toleratedLook
	}
	if v.doubt > limit && count < mostMeasurements {
		return false
	}
	for _, z := range t.tally.z {
		in.levels.refine(v.level, z)
	}
	y := t.y
	t.y = none
	if v.level > most {
		return in.giveUp(t) // it contradicts itself
	}
	// The tree may have grown since the question was asked, so the other's way up is walked now.
	at := y
	for p := tr.parent[at]; tr.levelOf(p) < v.level; p = tr.parent[at] {
		at = p
	}
	switch p := tr.parent[at]; {
	case tr.levelOf(p) > v.level:
		w := tr.wrap(at, v.level)
		tr.add(t.x, w)
		return true
	case p == t.v:
		t.refuted = append(t.refuted, y)
	default:
		t.v, t.second = p, false
		t.refuted = append(t.refuted[:0], y)
	}
	if t.v != tr.top() && tr.levelOf(t.v) == 0 { // nothing is finer: what is here, is here side by side
		tr.add(t.x, t.v)
		return true
	}
	return in.close(t)
}

// giveUp leaves t for the end.
func (in *inserter) giveUp(t *task) bool {
	in.strays = append(in.strays, t.x)
	return true
}

// close makes t a child of its group if it is in none of the children, at the second look.
func (in *inserter) close(t *task) bool {
	tr := in.tree
	if t.v == tr.top() || t.y != none || len(in.closed(t)) < len(tr.kids(t.v)) {
		return false
	}
	if !t.second {
		t.second = true
		t.refuted = t.refuted[:0]
		return false
	}
	tr.add(t.x, t.v)
	return true
}

// noteUnknownLevel notes a level that is not known, and adds it when enough hosts have seen it.
func (in *inserter) noteUnknownLevel(x int32, value float64) bool {
	in.news = append(in.news, sighting{x, value})
	near := max(leastStep/2, 2*in.levels.noise)
	var by []int32
	sum, count := 0.0, 0.0
	for _, s := range in.news {
		if math.Abs(s.value-value) < near {
			if !slices.Contains(by, s.host) {
				by = append(by, s.host)
			}
			sum += s.value
			count++
		}
	}
	if len(by) < witnessesOfNew {
		return false
	}
	in.levels.insert(sum/count, measurementsOfNew*count)
	in.news = slices.DeleteFunc(in.news, func(s sighting) bool { return math.Abs(s.value-value) < near })
	return true
}
