package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// Renumber numbers the hosts of a result anew: host i becomes host[i], which is
// a permutation of 0 to hosts-1. Names go with the hosts, and switches keep their
// numbers. O(m log m) for m arcs, and the total size of the groups.
func (r *Result) Renumber(host []int) (*Result, error) {
	g := r.Graph
	if len(host) != g.hosts {
		return nil, fmt.Errorf("topology: renumber: %d numbers for %d hosts", len(host), g.hosts)
	}
	taken := make([]bool, g.hosts)
	for i, h := range host {
		if h < 0 || h >= g.hosts || taken[h] {
			return nil, fmt.Errorf("topology: renumber: host %d to %d: want a permutation of %d hosts", i, h, g.hosts)
		}
		taken[h] = true
	}
	names := make([]string, g.vertices)
	vertex := func(v int) int {
		if v < g.hosts {
			return host[v]
		}
		return v
	}
	for v := range names {
		names[vertex(v)] = g.Name(v)
	}
	arcs := make([]Arc, len(g.arcs))
	for k, a := range g.arcs {
		a.From, a.To = vertex(a.From), vertex(a.To)
		arcs[k] = a
	}
	graph, err := NewGraph(g.hosts, g.vertices-g.hosts, names, arcs)
	if err != nil {
		return nil, fmt.Errorf("topology: renumber: %w", err)
	}
	old := r.Hierarchy.groups
	groups := make([]Group, 0, len(old))
	for _, x := range old[1:] {
		hosts := make([]int, len(x.Hosts))
		for i, h := range x.Hosts {
			hosts[i] = host[h]
		}
		groups = append(groups, Group{Hosts: hosts, Level: x.Level, Latency: x.Latency, Support: x.Support})
	}
	hierarchy, err := NewHierarchy(g.hosts, r.Hierarchy.levels, groups, old[0].Latency)
	if err != nil {
		return nil, fmt.Errorf("topology: renumber: %w", err)
	}
	own := *r
	own.Graph, own.Hierarchy, own.Local = graph, hierarchy, nil
	for _, l := range r.Local {
		arcs := slices.Clone(l.Arcs)
		for k, a := range arcs {
			arcs[k].From, arcs[k].To = vertex(a.From), vertex(a.To)
		}
		slices.SortFunc(arcs, func(a, b Arc) int { return cmp.Or(a.From-b.From, a.To-b.To) })
		own.Local = append(own.Local, LocalTopology{Bytes: l.Bytes, Arcs: arcs})
	}
	return &own, nil
}
