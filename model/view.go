package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// View returns the part of the network that a job got: ranks are where its
// ranks run, in their order. Each takes the rank that ran on the same host and core
// when the network was measured; where cores are not bound or not the same,
// the host's ranks in order, free ones first. The error names the hosts that the network does
// not know and those on which fewer ranks were measured: see ViewTypical.
//
// Switches that lead to no rank are left out, and hosts that only pass
// messages on become switches. Routes other than the lowest may differ from those of
// the whole network, as they depend on the numbers of ranks.
func (n *Network) View(ranks []Location) (*Network, error) {
	old, unknown, crowded, err := n.match(ranks)
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("model: view: hosts that the network does not know: %s", strings.Join(unknown, ", "))
	}
	if len(crowded) > 0 {
		return nil, fmt.Errorf("model: view: hosts with more ranks than were measured: %s", strings.Join(crowded, ", "))
	}
	return n.cut(ranks, old, nil)
}

// ViewTypical is View for jobs on hosts of which not all was measured: a rank
// of an unknown host gets the typical parameters of the coarsest level, and
// hangs on the switch with the most links to other switches; a rank beyond those
// measured on its host is taken like the host's first one. A warning names the hosts.
func (n *Network) ViewTypical(ranks []Location) (*Network, error) {
	old, unknown, crowded, err := n.match(ranks)
	if err != nil {
		return nil, err
	}
	var warnings []string
	if len(unknown) > 0 {
		warnings = append(warnings, "hosts that were not measured, with typical parameters: "+strings.Join(unknown, ", "))
	}
	if len(crowded) > 0 {
		warnings = append(warnings, "hosts with more ranks than were measured, the others taken like the first: "+strings.Join(crowded, ", "))
	}
	return n.cut(ranks, old, warnings)
}

// match finds the rank of the network for each rank of a job, -1 for unknown
// hosts, and the names of hosts that are unknown or have too many ranks.
func (n *Network) match(ranks []Location) (old []int, unknown, crowded []string, err error) {
	if n.locations == nil {
		return nil, nil, nil, fmt.Errorf("model: view: the network does not know where its ranks ran")
	}
	onHost := make(map[string][]int)
	for r, at := range n.locations {
		onHost[at.Host] = append(onHost[at.Host], r)
	}
	old = make([]int, len(ranks))
	taken := make([]bool, n.Ranks())
	for i, at := range ranks {
		old[i] = -1
		for _, r := range onHost[at.Host] {
			if at.Core >= 0 && !taken[r] && n.locations[r].Core == at.Core {
				old[i], taken[r] = r, true
				break
			}
		}
	}
	for i, at := range ranks {
		if old[i] >= 0 {
			continue
		}
		there := onHost[at.Host]
		if len(there) == 0 {
			if !slices.Contains(unknown, at.Host) {
				unknown = append(unknown, at.Host)
			}
			continue
		}
		free := slices.IndexFunc(there, func(r int) bool { return !taken[r] })
		if free < 0 {
			free = 0
			if !slices.Contains(crowded, at.Host) {
				crowded = append(crowded, at.Host)
			}
		}
		old[i], taken[there[free]] = there[free], true
	}
	return old, unknown, crowded, nil
}

// cut makes the network of the given ranks, old[i] being the rank of n for
// rank i or -1.
func (n *Network) cut(ranks []Location, old []int, warnings []string) (*Network, error) {
	graph, arcOf, err := n.cutGraph(old)
	if err != nil {
		return nil, fmt.Errorf("model: view: %w", err)
	}
	hierarchy, levels, err := n.cutHierarchy(old)
	if err != nil {
		return nil, fmt.Errorf("model: view: %w", err)
	}
	s := &Settings{
		Levels: levels, Locations: ranks, MemoryBandwidth: math.NaN(), Routing: n.routing,
		RTTBias: n.rttBias, MeasuredOverPredicted: n.ratios, Degradation: n.degradation, Measured: n.measured,
	}
	if n.memory > 0 {
		s.MemoryBandwidth = n.memory
	}
	if len(n.links.Classes) > 0 {
		s.Links.Classes, s.Links.Law = n.links.Classes, n.links.Law
		for _, arc := range arcOf {
			s.Links.OfArc = append(s.Links.OfArc, n.links.OfArc[arc])
		}
	}
	s.Pairs = cutPairs(n.pairs, old)
	s.HostPairs = cutPairs(n.hostPairs, n.oldHosts(ranks))
	fit := n.fit
	fit.Levels = nil // they speak of the levels of the whole
	return newNetwork(&topology.Result{
		Graph: graph, Hierarchy: hierarchy, Fit: fit, Warnings: append(slices.Clone(n.warnings), warnings...),
	}, s)
}

// oldHosts are the host numbers in n of the hosts of ranks, in the order of
// their first rank; -1 for unknown ones.
func (n *Network) oldHosts(ranks []Location) []int {
	number := make(map[string]int, len(n.hosts))
	for i, name := range n.hosts {
		number[name] = i
	}
	seen := make(map[string]bool)
	var old []int
	for _, at := range ranks {
		if seen[at.Host] {
			continue
		}
		seen[at.Host] = true
		if i, ok := number[at.Host]; ok {
			old = append(old, i)
		} else {
			old = append(old, -1)
		}
	}
	return old
}

// cutPairs are the pairs whose both ends are among old.
func cutPairs(t *pairTable, old []int) []PairParams {
	if t == nil {
		return nil
	}
	var out []PairParams
	for src, a := range old {
		for dst, b := range old {
			if src == dst || a < 0 || b < 0 {
				continue
			}
			if p := t.find(a, b); p != nil {
				out = append(out, PairParams{Src: src, Dst: dst, PLogP: *p})
			}
		}
	}
	return out
}

// cutHierarchy restricts the hierarchy, weak groups included, and returns the
// parameters of the levels of its firm groups. Of groups that have become the
// same the finest firm one is kept, or the finest if all are weak; those of all
// ranks become the root.
func (n *Network) cutHierarchy(old []int) (*topology.Hierarchy, []LevelParams, error) {
	h := n.reported
	members := make([][]int, len(h.Groups()))
	for i, r := range old {
		if r < 0 {
			members[0] = append(members[0], i)
			continue
		}
		for g := h.Leaf(r); g >= 0; g = h.Groups()[g].Parent {
			members[g] = append(members[g], i)
		}
	}
	// Of a chain of groups that have become the same: its top, and which of it and
	// those below stands for all. Children come after parents.
	top, stands := make([]int, len(h.Groups())), make([]int, len(h.Groups()))
	for i := range top {
		top[i] = i
		if p := h.Groups()[i].Parent; p >= 0 && len(members[p]) == len(members[i]) {
			top[i] = top[p]
		}
	}
	for i := len(stands) - 1; i >= 0; i-- {
		g := &h.Groups()[i]
		stands[i] = i
		for _, c := range g.Children {
			if len(members[c]) == len(members[i]) && (h.Groups()[stands[c]].Firm() || !g.Firm()) {
				stands[i] = stands[c]
			}
		}
	}
	root := stands[0]
	used := make([]bool, len(h.Levels()))
	var groups []topology.Group
	for i, g := range h.Groups() {
		if len(members[i]) < 2 || len(members[i]) == len(old) || stands[top[i]] != i {
			continue
		}
		groups = append(groups, topology.Group{Hosts: members[i], Level: g.Level, Latency: g.Latency, Support: g.Support})
		used[g.Level] = true
	}
	number := make([]int, len(h.Levels()))
	var levels []topology.Level
	var of []int // level of the cut -> level of the whole, the root's last
	for i, l := range h.Levels() {
		number[i] = len(levels)
		if used[i] {
			levels, of = append(levels, l), append(of, i)
		}
	}
	for i := range groups {
		groups[i].Level = number[groups[i].Level]
	}
	of = append(of, h.Groups()[root].Level)
	cut, err := topology.NewHierarchy(len(old), levels, groups, h.Groups()[root].Latency)
	if err != nil {
		return nil, nil, err
	}
	whole := firmLevels(h)
	var params []LevelParams
	for level, number := range firmLevels(cut) {
		if number >= 0 {
			params = append(params, n.levels[whole[of[level]]])
		}
	}
	return cut, params, nil
}

// cutGraph makes the graph of the given hosts, and returns for each of its
// arcs one of the whole graph that it stands for.
func (n *Network) cutGraph(old []int) (*topology.Graph, []int, error) {
	g := n.graph
	kept := n.keptVertices(old)
	number := make([]int, g.Vertices()) // of kept switches
	first := make([]int, g.Vertices())  // of hosts: the first rank that is it, or -1
	for v := range first {
		first[v] = -1
	}
	names := make([]string, len(old))
	for i, r := range old {
		if r >= 0 {
			names[i] = g.Name(r)
			if first[r] < 0 {
				first[r] = i
			}
		}
	}
	for v := range number {
		if kept[v] && first[v] < 0 {
			number[v] = len(names)
			names = append(names, g.Name(v))
		}
	}
	end := func(v int) int {
		if first[v] >= 0 {
			return first[v]
		}
		return number[v]
	}
	var arcs []topology.Arc
	var arcOf []int
	put := func(arc, from, to int) {
		a := g.Arcs()[arc]
		a.From, a.To = from, to
		arcs, arcOf = append(arcs, a), append(arcOf, arc)
	}
	for i, a := range g.Arcs() {
		if kept[a.From] && kept[a.To] {
			put(i, end(a.From), end(a.To))
		}
	}
	for i, r := range old {
		like := r
		if r < 0 {
			like = n.typicalHost(kept)
		} else if first[r] == i {
			continue
		}
		if like < 0 {
			continue
		}
		for _, a := range g.Out(like) {
			up, down := g.ArcIndex(like, a.To), g.ArcIndex(a.To, like)
			to := a.To
			if r < 0 {
				to = n.busiestSwitch(kept)
			}
			if !kept[to] || down < 0 {
				continue
			}
			put(up, i, end(to))
			put(down, end(to), i)
			if r < 0 {
				break // one link
			}
		}
	}
	sorted := orderOfArcs(arcs, arcOf)
	graph, err := topology.NewGraph(len(old), len(names)-len(old), names, arcs)
	return graph, sorted, err
}

// orderOfArcs gives what belongs to arcs the order into which NewGraph sorts them.
func orderOfArcs(arcs []topology.Arc, belongs []int) []int {
	order := make([]int, len(arcs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		if arcs[x].From != arcs[y].From {
			return arcs[x].From - arcs[y].From
		}
		return arcs[x].To - arcs[y].To
	})
	sorted := make([]int, len(arcs))
	for i, k := range order {
		sorted[i] = belongs[k]
	}
	return sorted
}

// keptVertices are the hosts in use, and the other vertices that do not hang
// loose once those are gone that lead nowhere.
func (n *Network) keptVertices(old []int) []bool {
	g := n.graph
	kept := make([]bool, g.Vertices())
	used := make([]bool, g.Vertices())
	for v := range kept {
		kept[v] = true
	}
	for _, r := range old {
		if r >= 0 {
			used[r] = true
		} else {
			if v := n.busiestSwitch(kept); v >= 0 {
				used[v] = true
			}
		}
	}
	neighbours := func(v int) int {
		count := 0
		for _, a := range g.Out(v) {
			if kept[a.To] {
				count++
			}
		}
		return count
	}
	var loose []int
	for v := range kept {
		loose = append(loose, v)
	}
	for len(loose) > 0 {
		v := loose[len(loose)-1]
		loose = loose[:len(loose)-1]
		if !kept[v] || used[v] || neighbours(v) > 1 {
			continue
		}
		kept[v] = false
		for _, a := range g.Out(v) {
			loose = append(loose, a.To)
		}
	}
	return kept
}

// busiestSwitch is the kept switch with the most links to other switches; ties
// go to the lowest. -1 if there is none.
func (n *Network) busiestSwitch(kept []bool) int {
	best, most := -1, -1
	for v := n.graph.Hosts(); v < n.graph.Vertices(); v++ {
		count := 0
		for _, a := range n.graph.Out(v) {
			if n.graph.IsSwitch(a.To) {
				count++
			}
		}
		if kept[v] && count > most {
			best, most = v, count
		}
	}
	return best
}

// typicalHost is the lowest host that hangs on a kept switch, or -1.
func (n *Network) typicalHost(kept []bool) int {
	for h := range n.graph.Hosts() {
		for _, a := range n.graph.Out(h) {
			if n.graph.IsSwitch(a.To) && kept[a.To] {
				return h
			}
		}
	}
	return -1
}
