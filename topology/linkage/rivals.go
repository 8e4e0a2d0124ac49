package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
)

// gapEvidence decides about a unit: wrong once in a thousand. A single reading of an
// outsider has 8.1 at 1 % of noise and 7.1 at 3 %; at 5 % two are needed.
const gapEvidence = 7

// A bond is what readings say of a set of units and one that may belong to it.
type bond struct {
	nats    float64
	missing int // pairs not measured
}

// told says whether the readings decide. Where nothing is missing there
// is no gap to be held against the group, unless the readings contradict it.
func (b bond) told() bool { return b.nats >= gapEvidence || b.missing == 0 && b.nats >= 0 }

// doubt is the chance that the readings mislead, 0 where nothing is missing.
func (b bond) doubt() float64 {
	if b.missing == 0 {
		return 0
	}
	return math.Exp(-b.nats)
}

// units appends to list the hosts and solid groups that v consists of, the largest
// ones, without those of its child except.
func units(t *nested.Tree, list []int32, v, except int32, solid []bool) []int32 {
	for _, c := range t.Kids(v) {
		switch {
		case c == except:
		case t.IsGroup(c) && !solid[int(c)-t.N]:
			list = units(t, list, c, -1, solid)
		default:
			list = append(list, c)
		}
	}
	return list
}

// alikeParts divides group v into what sees outsiders alike: its solid groups, and the rest of
// its hosts, who are alike if the judgement found them so. Of two it cannot tell.
func alikeParts(t *nested.Tree, v int32, solid []bool) [][]int32 {
	var list [][]int32
	var hosts []int32
	for _, u := range units(t, nil, v, -1, solid) {
		if t.IsGroup(u) {
			list = append(list, t.Leaves(u))
		} else {
			hosts = append(hosts, u)
		}
	}
	switch {
	case len(hosts) == 2 && len(list) == 0:
		list = append(list, hosts[:1], hosts[1:])
	case len(hosts) > 0:
		list = append(list, hosts)
	}
	return list
}

// apart is what the readings between two sets of hosts say for their lying on different
// sides of the border.
func (g *judge) apart(us, vs []int32, b border, noise float64) bond {
	var sum bond
	for _, i := range us {
		for _, j := range vs {
			if x := g.raw.At(int(i), int(j)); x > 0 {
				sum.nats += b.nats(math.Log(float64(x)), noise)
			} else {
				sum.missing++
			}
		}
	}
	return sum
}

// missing counts the pairs between u and the other units that were not measured.
func (g *judge) missing(u int32, units []int32) int {
	count := 0
	for _, i := range g.t.Leaves(u) {
		for _, v := range units {
			if v == u {
				continue
			}
			for _, j := range g.t.Leaves(v) {
				if g.r.At(int(i), int(j)) < 0 {
					count++
				}
			}
		}
	}
	return count
}

// loose counts the units that readings do not join to the rest. They are
// taken in one after another, always the one that most speaks for. If each is told
// when its turn comes, so is every way to cut the units in two: one side holds a
// unit taken in when only the other was there. The order is that of Nagamochi and
// Ibaraki 1992. The first is the largest, of equals the one that
// misses least, as nothing is asked of it. O(size^2).
func (g *judge) loose(units []int32, b border, noise float64) int {
	t := g.t
	rest := slices.Clone(units)
	bonds := make([]bond, len(rest))
	next := 0
	for k, u := range rest {
		bonds[k].missing = g.missing(u, units)
		if more := t.Size(u) - t.Size(rest[next]); more > 0 || more == 0 && bonds[k].missing < bonds[next].missing {
			next = k
		}
	}
	for loose := 0; ; {
		u := rest[next]
		last := len(rest) - 1
		rest[next], bonds[next] = rest[last], bonds[last]
		rest, bonds = rest[:last], bonds[:last]
		if last == 0 {
			return loose
		}
		next = 0
		for k, v := range rest {
			bonds[k].nats -= g.apart(t.Leaves(u), t.Leaves(v), b, noise).nats
			if bonds[k].nats > bonds[next].nats || bonds[k].nats == bonds[next].nats && v < rest[next] {
				next = k
			}
		}
		if !bonds[next].told() {
			loose++
		}
	}
}

// weakest is what readings say for the part that they least set off from the rival.
func (g *judge) weakest(parts [][]int32, rival []int32, b border, noise float64) bond {
	var least bond
	for k, p := range parts {
		if one := g.apart(p, rival, b, noise); k == 0 || least.told() && (!one.told() || one.doubt() > least.doubt()) {
			least = one
		}
	}
	return least
}
