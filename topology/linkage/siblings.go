package linkage

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// A level of a machine shows in more than one place. One group among ungrouped peers is a
// fast corner (the half nearest the timed cache line), a slow rest, or an accident of one
// host. So what stands beside a group in its parent has a say, too, though no direct evidence:
// it makes no group firm, and takes it from some.

// A standing is a group, or a host, among the children of its parent.
type standing struct {
	group bool
	firm  bool // by the readings around it
	depth int  // firm groups on the longest way down, itself included
}

// height is how deep the standing is nested. Among groups that are judged firm a group that is not
// counts as one on its own, as it may be no group; among weak ones it counts as they do.
func (s standing) height(amongWeak bool) int {
	switch {
	case !s.group:
		return 0
	case amongWeak && !s.firm:
		return s.depth + 1
	}
	return max(1, s.depth)
}

// besideSiblings is the support of a group after a look at its siblings. If it is nested deeper than each of
// them, it is not firm; was it not firm by itself either, two arguments speak against it, and it is not reported.
func besideSiblings(support float64, own standing, siblings []standing) float64 {
	if len(siblings) == 0 {
		return support
	}
	alone := true
	for _, s := range siblings {
		alone = alone && s.height(!own.firm) < own.height(!own.firm)
	}
	switch {
	case !alone:
		return support
	case own.firm:
		return min(support, weakCeiling)
	}
	return support * lonelyWeak
}

// lonelyWeak takes any weak group below what is reported.
const lonelyWeak = reported / topology.FirmSupport

// siblings applies besideSiblings to all groups. Groups that are not reported are
// transparent: their children stand in their place.
func (g *judge) siblings() {
	t := g.t
	groups := t.Groups()
	of := make([]standing, len(t.Parent))
	for _, v := range slices.Backward(groups) {
		at := int(v) - t.N
		of[v] = standing{group: true, firm: g.support[at] >= topology.FirmSupport}
		for _, c := range t.Kids(v) {
			of[v].depth = max(of[v].depth, of[c].depth)
		}
		if of[v].firm {
			of[v].depth++
		}
	}
	after := slices.Clone(g.support)
	var beside []standing
	for _, v := range groups[1:] {
		beside = beside[:0]
		for _, c := range g.shown(nil, g.shownParent(v)) {
			if c != v {
				beside = append(beside, of[c])
			}
		}
		after[int(v)-t.N] = besideSiblings(g.support[int(v)-t.N], of[v], beside)
	}
	g.support = after
}

// shownParent is the nearest group around v that is reported.
func (g *judge) shownParent(v int32) int32 {
	p := g.t.Parent[v]
	for p != g.t.Root && g.support[int(p)-g.t.N] < reported {
		p = g.t.Parent[p]
	}
	return p
}

// shown appends the hosts and reported groups that p consists of.
func (g *judge) shown(list []int32, p int32) []int32 {
	for _, c := range g.t.Kids(p) {
		if g.t.IsGroup(c) && g.support[int(c)-g.t.N] < reported {
			list = g.shown(list, c)
		} else {
			list = append(list, c)
		}
	}
	return list
}
