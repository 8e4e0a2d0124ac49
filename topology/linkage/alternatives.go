package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
)

// gapEvidence decides about a unit: wrong once in a thousand. A single measurement of an
// outsider has 8.1 at 1 % of noise and 7.1 at 3 %; at 5 % two are needed.
const gapEvidence = 7

// A likelihood is what measurements say of a set of units and one that may belong to it.
type likelihood struct {
	logRatio float64
	missing  int // pairs not measured
}

// decides says whether the measurements decide. Where nothing is missing there
// is no gap to be held against the group, unless the measurements contradict it.
func (b likelihood) decides() bool {
	return b.logRatio >= gapEvidence || b.missing == 0 && b.logRatio >= 0
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

// apart is what the measurements between two sets of hosts say for their lying on different
// sides of the margin.
func (g *judge) apart(us, vs []int32, b margin, noise float64) likelihood {
	var sum likelihood
	for _, i := range us {
		for _, j := range vs {
			if x := g.raw.At(int(i), int(j)); x > 0 {
				sum.logRatio += b.logRatio(math.Log(float64(x)), noise)
			} else {
				sum.missing++
			}
		}
	}
	return sum
}

// unjoined counts the units that measurements do not join to the rest: all but the largest set of which each was joined to another
// one. O(size^2).
func (g *judge) unjoined(units []int32, b margin, noise float64) int {
	rest, most := slices.Clone(units), 0
	for len(rest) > 0 {
		joined := []int32{rest[0]}
		rest = rest[1:]
		for k := 0; k < len(joined); k++ {
			rest = slices.DeleteFunc(rest, func(v int32) bool {
				between := g.apart(g.t.Leaves(joined[k]), g.t.Leaves(v), b, noise)
				between.logRatio = -between.logRatio
				if between.decides() {
					joined = append(joined, v)
				}
				return between.decides()
			})
		}
		most = max(most, len(joined))
	}
	return len(units) - most
}
