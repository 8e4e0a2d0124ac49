package adaptive

import (
	"math"
	"slices"
)

const (
	// Doubt of all hosts together that is left: of one it is this by their number. A host in the wrong place
	// is one wrong group, or two.
	toleratedInAll = 0.01
	// Measurements of a group that may be of another level: a share, of few measurements so many. Each counts at both hosts.
	mixedShare, fewestMixed = 0.12, 6
	// Measurements of a relation that are looked at.
	mostTold = 16
	// Doubt below which measurements contradict the tree.
	contradicted = 1e-2
	// Passes of verification, and times that each asks what is in doubt.
	mostPasses, mostRounds = 4, 2
	// Further measurements of one pair of siblings.
	mostFurther = 8
)

// A relation is what was read between two children of a group. At the finest level it is of a host and all others of its
// group. Two children that read less than their group's level are one,
// and of three levels one of both is wrong here.
type relation struct {
	group, a, b int32 // children of the group; b is none where a is a host held against its group
	tally       tally
	met         []int32 // hosts that a was held against, of a host and its group
	further     int
}

func (r *relation) add(z float64, l *levels) {
	if len(r.tally.z) < mostTold {
		r.tally.add(z, l)
	}
}

// meet adds a measurement of host a and another of its group.
func (r *relation) meet(other int32, z float64, l *levels) {
	r.met = append(r.met, other)
	r.add(z, l)
}

// relations sorts the measurements so far by what they tell of the tree, those of siblings that were never
// compared included; in order of group, a, b. Measurements of hosts that are not in the tree do not count. O(measurements times depth).
func (in *inserter) relations() []*relation {
	tr := in.tree
	type key struct{ group, a, b int32 }
	index := make(map[key]*relation)
	var list []*relation
	at := func(k key) *relation {
		r := index[k]
		if r == nil {
			r = &relation{group: k.group, a: k.a, b: k.b}
			r.tally.clear(len(in.levels.at))
			index[k] = r
			list = append(list, r)
		}
		return r
	}
	for _, v := range tr.all() {
		kids := tr.kids(v)
		for k, a := range kids {
			if tr.levelOf(v) == 0 {
				at(key{v, a, none})
				continue
			}
			for _, b := range kids[:k] {
				at(key{v, min(a, b), max(a, b)})
			}
		}
	}
	for _, r := range in.ledger.log {
		if !tr.has(r.A) || !tr.has(r.B) {
			continue
		}
		v, a, b := tr.common(r.A, r.B)
		if v == tr.top() {
			continue
		}
		z := math.Log(float64(r.Latency))
		if tr.levelOf(v) == 0 {
			at(key{v, a, none}).meet(b, z, in.levels)
			at(key{v, b, none}).meet(a, z, in.levels)
			continue
		}
		at(key{v, min(a, b), max(a, b)}).add(z, in.levels)
	}
	return list
}

// verify holds the tree against the measurements, takes further ones where they leave doubt, and returns the
// hosts that are not where they belong.
func (in *inserter) verify() (suspects []int32, err error) {
	tolerated := toleratedInAll / float64(in.tree.n)
	list := in.relations()
	for range mostRounds {
		open := slices.DeleteFunc(slices.Clone(list), func(r *relation) bool { return in.doubt(r) <= tolerated })
		if len(open) == 0 {
			break
		}
		for len(open) > 0 {
			open, err = round(in.ledger, open, in.further, func(r *relation, p pair, z float64) (settled bool) {
				if p != nobody {
					r.further++
				}
				if !math.IsNaN(z) {
					r.meet(p[1], z, in.levels)
				}
				return r.further >= mostFurther || in.doubt(r) <= tolerated || in.against(r)
			})
			if err != nil {
				return nil, err
			}
		}
		list = in.relations() // each measurement counts at both hosts
	}
	gone := make(map[int32]bool)
	for _, v := range in.mixed(list) {
		for _, h := range in.tree.members(v) {
			gone[h] = true
		}
	}
	for _, r := range list {
		if !in.against(r) {
			continue
		}
		less := r.a
		if r.b != none && in.tree.size(r.b) < in.tree.size(r.a) {
			less = r.b
		}
		for _, h := range in.tree.members(less) {
			gone[h] = true
		}
	}
	for h := range gone {
		suspects = append(suspects, h)
	}
	slices.Sort(suspects)
	return suspects, nil
}

// doubt is how likely the measurements of a relation are of another level than that of its group. The one that
// speaks most for it does not count: what put a host into a wrong place is the measurement that does, and so is that of
// another host that followed it there. Of two hosts side by side, of which one in two hundred measurements or so would have to be
// wrong twice, all count.
func (in *inserter) doubt(r *relation) float64 {
	want := in.tree.levelOf(r.group)
	l := in.levels
	best, drop := math.Inf(-1), -1
	for k, z := range r.tally.z {
		other := math.Inf(-1)
		for level := range l.at {
			if level != want {
				other = max(other, l.of(z, level))
			}
		}
		if s := l.of(z, want) - other; s > best {
			best, drop = s, k
		}
	}
	if len(r.tally.z) < 2 {
		return 1
	}
	if r.b != none && !in.tree.isGroup(r.a) && !in.tree.isGroup(r.b) {
		drop = -1 // two hosts, which nobody has followed
	}
	rest := &in.scratch
	rest.clear(len(l.at))
	for k, z := range r.tally.z {
		if k != drop {
			rest.add(z, l)
		}
	}
	v := rest.judge(l, aboveAll)
	if v.unknown || v.level != want {
		return 1
	}
	return v.doubt
}

// against tells whether the measurements contradict the tree.
func (in *inserter) against(r *relation) bool {
	if len(r.tally.z) == 0 {
		return false
	}
	v := r.tally.judge(in.levels, aboveAll)
	if v.unknown {
		return len(r.tally.z) >= mostMeasurements
	}
	return v.level != in.tree.levelOf(r.group) && v.doubt < contradicted
}

// mixed lists the groups of hosts of the finest level of whose measurements too many are those of another level: a host that
// noise has put into the wrong group draws the others of its own after it, who vouch for each
// other.
func (in *inserter) mixed(list []*relation) []int32 {
	total, bad := make(map[int32]int), make(map[int32]int)
	var groups []int32
	for _, r := range list {
		if r.b != none {
			continue
		}
		if total[r.group] == 0 {
			groups = append(groups, r.group)
		}
		for _, z := range r.tally.z {
			total[r.group]++
			for k := 1; k < len(in.levels.at); k++ {
				if in.levels.of(z, k) > in.levels.of(z, 0) {
					bad[r.group]++
					break
				}
			}
		}
	}
	return slices.DeleteFunc(groups, func(v int32) bool {
		return bad[v] < fewestMixed || float64(bad[v]) < mixedShare*float64(total[v])
	})
}

// further is a pair of free hosts that tells of the relation. A host that is held against its group meets others of it
// before it meets one again.
func (in *inserter) further(r *relation) pair {
	among := r.b
	if among == none {
		among = r.group
	}
	anyUnmet := slices.ContainsFunc(in.tree.members(r.group), func(h int32) bool { return h != r.a && !slices.Contains(r.met, h) })
	for range tries {
		a, b := in.tree.some(r.a, in.rng), in.tree.some(among, in.rng)
		if r.b == none && anyUnmet && slices.Contains(r.met, b) {
			continue
		}
		if a != b && in.ledger.free(a) && in.ledger.free(b) {
			return pair{a, b}
		}
	}
	return nobody
}
