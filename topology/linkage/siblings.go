package linkage

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// A level of a machine shows in more than one place. One group among ungrouped peers is a
// fast corner (the half nearest the timed cache line), a slow rest, or an accident of one
// host. So what stands beside a group in its parent has a say, too, though no direct evidence:
// it makes no group confident, and takes it from some.

// A sibling is a group, or a host, among the children of its parent.
type sibling struct {
	group     bool
	confident bool // by the measurements around it
	depth     int  // confident groups on the longest way down, itself included
}

// height is how deep the sibling is nested. Among groups that are judged confident a group that is not
// counts as one on its own, as it may be no group; among uncertain ones it counts as they do.
func (s sibling) height(amongUncertain bool) int {
	switch {
	case !s.group:
		return 0
	case amongUncertain && !s.confident:
		return s.depth + 1
	}
	return max(1, s.depth)
}

// besideSiblings is the confidence of a group after a look at its siblings. If it is nested deeper than each of
// them, it is not confident; was it not confident by itself either, two arguments speak against it, and it is not reported.
func besideSiblings(confidence float64, own sibling, siblings []sibling) float64 {
	if len(siblings) == 0 {
		return confidence
	}
	alone := true
	for _, s := range siblings {
		alone = alone && s.height(!own.confident) < own.height(!own.confident)
	}
	switch {
	case !alone:
		return confidence
	case own.confident:
		return min(confidence, uncertainCeiling)
	}
	return confidence * lonelyUncertain
}

// lonelyUncertain takes any uncertain group below what is reported.
const lonelyUncertain = reported / topology.ConfidentFrom

// siblings applies besideSiblings to all groups. Groups that are not reported are
// transparent: their children stand in their place.
func (g *judge) siblings() {
	t := g.t
	groups := t.Groups()
	of := make([]sibling, len(t.Parent))
	for _, v := range slices.Backward(groups) {
		at := int(v) - t.N
		of[v] = sibling{group: true, confident: g.confidence[at] >= topology.ConfidentFrom}
		for _, c := range t.Kids(v) {
			of[v].depth = max(of[v].depth, of[c].depth)
		}
		if of[v].confident {
			of[v].depth++
		}
	}
	after := slices.Clone(g.confidence)
	var beside []sibling
	for _, v := range groups[1:] {
		beside = beside[:0]
		for _, c := range g.shown(nil, g.shownParent(v)) {
			if c != v {
				beside = append(beside, of[c])
			}
		}
		after[int(v)-t.N] = besideSiblings(g.confidence[int(v)-t.N], of[v], beside)
	}
	g.confidence = after
}

// shownParent is the nearest group around v that is reported.
func (g *judge) shownParent(v int32) int32 {
	p := g.t.Parent[v]
	for p != g.t.Root && g.confidence[int(p)-g.t.N] < reported {
		p = g.t.Parent[p]
	}
	return p
}

// shown appends the hosts and reported groups that p consists of.
func (g *judge) shown(list []int32, p int32) []int32 {
	for _, c := range g.t.Kids(p) {
		if g.t.IsGroup(c) && g.confidence[int(c)-g.t.N] < reported {
			list = g.shown(list, c)
		} else {
			list = append(list, c)
		}
	}
	return list
}
