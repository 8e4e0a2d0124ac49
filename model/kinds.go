package model

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// withKinds gives the levels whose kind is not known the one that follows from
// where the ranks run and from what they share. A level is of a kind only if all its groups
// are: all ranks of a host, hosts as a whole, or, inside hosts, ranks that share one resource;
// if several resources are shared by the same ranks it is the coarsest kind.
func withKinds(h *topology.Hierarchy, hostOf []int32, resources []Resource) (*topology.Hierarchy, error) {
	kinds := make([]topology.Kind, len(h.Levels()))
	seen := make([]bool, len(kinds))
	ranksOf := make(map[int32]int)
	for _, host := range hostOf {
		ranksOf[host]++
	}
	var sharers []map[int][]int // of each resource, its groups by their first rank
	for _, r := range resources {
		groups := make(map[int][]int)
		for _, g := range r.Groups {
			groups[g[0]] = g
		}
		sharers = append(sharers, groups)
	}
	for _, g := range h.Groups()[1:] {
		kind := kindOfHosts(g.Hosts, hostOf, ranksOf)
		if kind == topology.KindUnknown {
			for i, r := range resources {
				if slices.Equal(sharers[i][g.Hosts[0]], g.Hosts) {
					kind = max(kind, r.Kind)
				}
			}
		}
		if seen[g.Level] && kind != kinds[g.Level] {
			kind = topology.KindUnknown
		}
		kinds[g.Level], seen[g.Level] = kind, true
	}
	changed := false
	for i, l := range h.Levels() {
		if l.Kind != topology.KindUnknown {
			kinds[i] = l.Kind
		}
		changed = changed || kinds[i] != l.Kind
	}
	if !changed {
		return h, nil
	}
	return h.WithKinds(kinds)
}

// kindOfHosts is KindHost for all ranks of one host, KindSwitch for those of several, and
// KindUnknown for a part of a host, or parts of several.
func kindOfHosts(ranks []int, hostOf []int32, ranksOf map[int32]int) topology.Kind {
	if hostOf == nil {
		return topology.KindUnknown
	}
	in := make(map[int32]int)
	for _, rank := range ranks {
		in[hostOf[rank]]++
	}
	for host, n := range in {
		if n < ranksOf[host] {
			return topology.KindUnknown
		}
	}
	if len(in) == 1 {
		return topology.KindHost
	}
	return topology.KindSwitch
}
