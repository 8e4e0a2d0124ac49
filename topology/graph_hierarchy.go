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
// There is the root alone if a host forwards, if there is no switch, if a link has one direction only, or if parts are
// not connected. d gives latencies; nil: none is known.
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
	if !connected || through || n < 3 {
		h, err = NewHierarchy(n, nil, nil, medianBetween(n, d, [][]int{allHosts(n)}, true))
		return h, isTree, err
	}
	if !isTree {
		h, err = g.blockHierarchy(d)
		return h, false, err
	}

	// The middle of the longest path: a vertex, or a link whose far end's side
	// is one group more.
	latencies, dist := g.Latencies(), make([]float64, g.vertices)
	unknown := slices.ContainsFunc(latencies, math.IsNaN)
	lengths := make([]float64, len(latencies))
	for i, a := range g.arcs {
		lengths[i] = (latencies[i] + latencies[g.ArcIndex(a.To, a.From)]) / 2 // a path has one middle, seen from either end
		if unknown {
			lengths[i] = 1
		}
		if a.From < n || a.To < n {
			lengths[i] = 0
		}
	}
	finder := NewPaths(g, lengths)
	far := func(from int) int {
		finder.From(from, dist)
		best := from
		for v := range n {
			if dist[v] > dist[best] {
				best = v
			}
		}
		return best
	}
	a := far(0)
	b := far(a)
	whole, middle := dist[b]*(1+paths.SameLength), dist[b]*(1-paths.SameLength)
	toA := slices.Clone(dist)
	finder.From(b, dist)
	root, other := -1, -1
	for v := n; v < g.vertices; v++ {
		if toA[v]+dist[v] <= whole && 2*toA[v] <= whole && (root < 0 || toA[v] > toA[root]) {
			root = v
		}
	}
	if 2*toA[root] < middle {
		for _, arc := range g.Out(root) {
			if v := arc.To; g.IsSwitch(v) && toA[v] > toA[root] && toA[v]+dist[v] <= whole {
				other = v
			}
		}
	}

	var groups []Group
	var below func(v, parent int) (hosts []int, level int)
	add := func(hosts []int, level int, parts [][]int) int {
		if len(hosts) < 2 || len(hosts) >= n {
			return level
		}
		groups = append(groups, Group{Hosts: hosts, Level: level, Latency: medianBetween(n, d, parts, false), Support: math.NaN()})
		return level + 1
	}
	below = func(v, parent int) (hosts []int, level int) {
		if !g.IsSwitch(v) {
			return []int{v}, 0
		}
		var parts [][]int
		for _, arc := range g.Out(v) {
			if arc.To == parent {
				continue
			}
			hs, l := below(arc.To, v)
			parts = append(parts, hs)
			hosts = append(hosts, hs...)
			level = max(level, l)
		}
		if parent < 0 {
			return hosts, level
		}
		return hosts, add(hosts, level, parts)
	}
	var parts [][]int
	if other >= 0 {
		one, _ := below(root, other)
		two, _ := below(other, root)
		parts = [][]int{one, two}
	} else {
		for _, arc := range g.Out(root) {
			hs, _ := below(arc.To, root)
			parts = append(parts, hs)
		}
	}
	h, err = NewHierarchy(n, NewLevels(groups), groups, medianBetween(n, d, parts, false))
	return h, true, err
}

// blockHierarchy is for rings, tori and meshes of switches. The hosts of each switch are a group if they are two or
// more and not all.
func (g *Graph) blockHierarchy(d []float64) (*Hierarchy, error) {
	n := g.hosts
	var groups []Group
	blocks := make([][]int, 0, g.vertices)
	for s := n; s < g.vertices; s++ {
		var hosts []int
		for _, a := range g.Out(s) {
			if !g.IsSwitch(a.To) {
				hosts = append(hosts, a.To)
			}
		}
		blocks = append(blocks, hosts)
		if len(hosts) >= 2 && len(hosts) < n {
			groups = append(groups, Group{Hosts: hosts, Latency: medianBetween(n, d, [][]int{hosts}, true), Support: math.NaN()})
		}
	}
	return NewHierarchy(n, NewLevels(groups), groups, medianBetween(n, d, blocks, false))
}

// Graph is the tree of the groups: a switch for each, the root's first. A link is half as long as the latencies of the
// groups at its ends differ, but not below 0, and NaN if one is not known. Bandwidths are NaN. A single host has no switch.
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
// groups', and its support the least.
func NewLevels(groups []Group) []Level {
	var latencies, supports [][]float64 // by level
	for _, g := range groups {
		for len(latencies) <= g.Level {
			latencies, supports = append(latencies, nil), append(supports, nil)
		}
		latencies[g.Level], supports[g.Level] = append(latencies[g.Level], g.Latency), append(supports[g.Level], g.Support)
	}
	levels := make([]Level, len(latencies))
	for l := range levels {
		levels[l] = Level{Name: fmt.Sprintf("level %d", l+1), Latency: stats.Median(stats.SortedFinite(latencies[l])), Support: math.NaN()}
		if known := stats.SortedFinite(supports[l]); len(known) > 0 {
			levels[l].Support = known[0]
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

// medianBetween is the lower median of the measurements between hosts of different
// parts, or, within, of the same part. NaN if there is none.
func medianBetween(n int, d []float64, parts [][]int, within bool) float64 {
	if d == nil {
		return math.NaN()
	}
	var readings []float64
	add := func(i int, to []int) {
		for _, j := range to {
			if v := d[i*n+j]; !math.IsNaN(v) {
				readings = append(readings, v)
			}
		}
	}
	for x, a := range parts {
		for y, i := range a {
			if within {
				add(i, a[y+1:])
				continue
			}
			for _, b := range parts[:x] {
				add(i, b)
			}
		}
	}
	return stats.Median(readings)
}
