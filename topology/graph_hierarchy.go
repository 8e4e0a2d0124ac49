package topology

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/paths"
	"github.com/topocast/topocast/internal/stats"
)

// Hierarchy is the groups of hosts that the wiring makes, whose latencies are not known: of a tree the hosts below each switch, seen from the
// middle, of other graphs the hosts of each switch. Where a host has several links, or parts are not connected, there is the root alone. Links
// whose latencies are not known are as long as each other. O(m log m) for m arcs.
func (g *Graph) Hierarchy() (*Hierarchy, error) {
	h, _, err := g.treeHierarchy(g.Parts(), nil)
	return h, err
}

// treeHierarchy makes groups of hosts from a graph that is a tree: those below each switch, seen from the middle of the
// longest path between switches. Links of hosts do not count, as one slow host would move the middle. The level of a
// group is the number of groups below it on the longest path down. Of other graphs the hosts of each switch are a group.
//
// There is the root alone if a host forwards, or if there is no switch. So it is if a link has one direction only, or if
// parts are not connected. d gives latencies; nil: none is known.
func (g *Graph) treeHierarchy(part []int, d []float64) (h *Hierarchy, isTree bool, err error) {
	n := g.hosts
	through := g.vertices == n // a host forwards, or nobody does
	for v := range n {
		through = through || len(g.Out(v)) > 1
	}
	for _, a := range g.arcs {
		through = through || g.ArcIndex(a.To, a.From) < 0
	}
	connected := len(part) == 0 || slices.Max(part) == 0
	isTree = g.IsForest() && connected
	var groups []Group
	switch {
	case !connected || through || n < 3:
	case isTree:
		groups = g.branches()
	default:
		groups = g.blocks()
	}
	if h, err = NewHierarchy(n, NewLevels(groups), groups, math.NaN()); err != nil || d == nil {
		return h, isTree, err
	}
	h, err = h.Timed(d)
	return h, isTree, err
}

// branches are the hosts below each switch of a tree that hosts are the leaves of.
func (g *Graph) branches() (groups []Group) {
	latencies := g.Latencies()
	unknown := slices.ContainsFunc(latencies, math.IsNaN)
	lengths := make([]float64, len(latencies))
	for i, a := range g.arcs {
		switch {
		case !g.IsSwitch(a.From) || !g.IsSwitch(a.To): // length 0
		case unknown:
			lengths[i] = 1
		default:
			lengths[i] = (latencies[i] + latencies[g.ArcIndex(a.To, a.From)]) / 2 // a path has one middle, seen from either end
		}
	}
	finder := NewPaths(g, lengths)
	farthest := func(from int) (t *PathTree, host int) {
		t = finder.Tree(from)
		host = from
		for h := range g.hosts {
			if t.Distance[h] > t.Distance[host] {
				host = h
			}
		}
		return t, host
	}
	_, end := farthest(0)
	t, far := farthest(end)

	// The middle of the longest path: a vertex, or a link whose far end's side
	// is one group more.
	half := t.Distance[far] / 2
	above := func(v int) int { return g.arcs[t.Arc[v]].From }
	root, other := g.Out(far)[0].To, -1
	for t.Distance[root] > half*(1+paths.SameLength) {
		root, other = above(root), root
	}
	if t.Distance[root] >= half*(1-paths.SameLength) {
		other = -1
	}

	var below func(v, parent int) (hosts []int, level int)
	below = func(v, parent int) (hosts []int, level int) {
		if !g.IsSwitch(v) {
			return []int{v}, 0
		}
		for _, arc := range g.Out(v) {
			if arc.To != parent {
				of, l := below(arc.To, v)
				hosts, level = append(hosts, of...), max(level, l)
			}
		}
		if len(hosts) < 2 || len(hosts) == g.hosts {
			return hosts, level
		}
		groups = append(groups, Group{Hosts: hosts, Level: level, Latency: math.NaN(), Confidence: math.NaN()})
		return hosts, level + 1
	}
	below(root, other)
	if other >= 0 {
		below(other, root)
	}
	return groups
}

// blocks are the hosts of each switch of a ring, torus or mesh of switches, if they are two or more and not all.
func (g *Graph) blocks() (groups []Group) {
	for s := g.hosts; s < g.vertices; s++ {
		var hosts []int
		for _, a := range g.Out(s) {
			if !g.IsSwitch(a.To) {
				hosts = append(hosts, a.To)
			}
		}
		if len(hosts) >= 2 && len(hosts) < g.hosts {
			groups = append(groups, Group{Hosts: hosts, Latency: math.NaN(), Confidence: math.NaN()})
		}
	}
	return groups
}

// Timed is the hierarchy with latencies that are lower medians of measurements between the children of each group. d is
// n*n for n hosts, row by row, in s; NaN is not measured, and the diagonal is not read. A group of which nothing was
// measured keeps its latency, and so does a level. O(n^2) times the number of levels.
func (h *Hierarchy) Timed(d []float64) (*Hierarchy, error) {
	between := make([][]float64, len(h.groups))
	for i := range h.hosts {
		for j := range h.hosts {
			if v := d[i*h.hosts+j]; i != j && !math.IsNaN(v) {
				g := h.Common(i, j)
				between[g] = append(between[g], v)
			}
		}
	}
	groups := slices.Clone(h.groups)
	for g, of := range between {
		if len(of) > 0 {
			groups[g].Latency = stats.Median(of)
		}
	}
	levels := slices.Clone(h.levels)
	for l, found := range NewLevels(groups[1:]) {
		if !math.IsNaN(found.Latency) {
			levels[l].Latency = found.Latency
		}
	}
	return NewHierarchy(h.hosts, levels, groups[1:], groups[0].Latency)
}

// Graph is the tree of the groups: a switch for each, the root's first. A link is half as long as the latencies of the
// groups at its ends differ, but not below 0. It is NaN if one is not known. Bandwidths are NaN. A single host has no switch.
func (h *Hierarchy) Graph() (*Graph, error) {
	if h.hosts < 2 {
		return NewGraph(h.hosts, 0, nil, nil)
	}
	var arcs []Arc
	link := func(v, group int, below float64) {
		length := (h.groups[group].Latency - below) / 2
		if length < 0 {
			length = 0
		}
		arcs = AppendLink(arcs, v, h.hosts+group, length, math.NaN())
	}
	for host, group := range h.smallest {
		link(host, group, 0)
	}
	for i, g := range h.groups[1:] {
		link(h.hosts+i+1, g.Parent, g.Latency)
	}
	return NewGraph(h.hosts, len(h.groups), nil, arcs)
}

// NewLevels are the levels of the given groups, called "level 1" and so on. The latency of a level is the lower median of its
// groups', and its confidence the least.
func NewLevels(groups []Group) []Level {
	var latencies, confidences [][]float64 // by level
	for _, g := range groups {
		for len(latencies) <= g.Level {
			latencies, confidences = append(latencies, nil), append(confidences, nil)
		}
		latencies[g.Level], confidences[g.Level] = append(latencies[g.Level], g.Latency), append(confidences[g.Level], g.Confidence)
	}
	levels := make([]Level, len(latencies))
	for l := range levels {
		levels[l] = Level{Name: fmt.Sprintf("level %d", l+1), Latency: stats.Median(stats.SortedFinite(latencies[l])), Confidence: math.NaN()}
		if known := stats.SortedFinite(confidences[l]); len(known) > 0 {
			levels[l].Confidence = known[0]
		}
	}
	return levels
}

func allHosts(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
