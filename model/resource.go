package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A Resource is a part of the hosts' inside that ranks share: the caches of one level, or the
// paths to memory. Servet's first two rules place by them (placement.Servet).
type Resource struct {
	Kind       topology.Kind // up to KindSocket; of paths to memory KindNUMA
	Bytes      int64         // of each cache, in B; 0 if it is none, or not known
	Bandwidth  float64       // of each path to memory, of all its ranks together, in B/s; NaN if it is none, or not known
	Groups     [][]int       // the ranks that share one, at least two each, ascending; none: no two ranks do
	FromSystem bool          // by the operating system; else it was measured
}

// checkResources refuses groups that cannot be, and returns a copy whose groups are sorted.
func checkResources(resources []Resource, ranks int) ([]Resource, error) {
	var own []Resource
	for i, r := range resources {
		if r.Kind < topology.KindUnknown || r.Kind > topology.KindSocket {
			return nil, fmt.Errorf("resource %d: kind %v: want one inside a host", i, r.Kind)
		}
		if r.Bytes < 0 || r.Bandwidth < 0 || math.IsInf(r.Bandwidth, 0) {
			return nil, fmt.Errorf("resource %d: %d B, %g B/s: want at least 0 and finite, or NaN", i, r.Bytes, r.Bandwidth)
		}
		groups := make([][]int, 0, len(r.Groups))
		taken := make(map[int]bool)
		for _, g := range r.Groups {
			g = slices.Sorted(slices.Values(g))
			if len(g) < 2 || g[0] < 0 || g[len(g)-1] >= ranks {
				return nil, fmt.Errorf("resource %d: group %v: want two ranks or more, in [0, %d)", i, g, ranks)
			}
			for _, rank := range g {
				if taken[rank] {
					return nil, fmt.Errorf("resource %d: rank %d given twice", i, rank)
				}
				taken[rank] = true
			}
			groups = append(groups, g)
		}
		slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
		r.Groups = groups
		own = append(own, r)
	}
	return own, nil
}

// cutResources are those of a job whose rank i is rank old[i] of the whole, or
// unknown if that is -1. Groups of which fewer than two ranks are left are dropped.
func cutResources(resources []Resource, old []int) []Resource {
	var own []Resource
	for _, r := range resources {
		groupOf := make(map[int]int)
		for g, ranks := range r.Groups {
			for _, rank := range ranks {
				groupOf[rank] = g
			}
		}
		members := make([][]int, len(r.Groups))
		for i, rank := range old {
			if g, shares := groupOf[rank]; shares {
				members[g] = append(members[g], i)
			}
		}
		r.Groups = slices.DeleteFunc(members, func(g []int) bool { return len(g) < 2 })
		own = append(own, r)
	}
	return own
}

// SideBySide sorts the ranks of one host so that those which share most stand side by side. Every k-th of them are as
// far from each other as can be then. It sorts by the largest parts of the host that resources tell of, within these by smaller ones, and
// last by core. Operating systems number cores in many ways: the first and the thirteenth of two
// processors of six cores of two threads may be one core. O(ranks * log ranks * resources).
func SideBySide(ranks []int, resources []Resource, core func(rank int) int) {
	size := func(r Resource) (most int) {
		for _, g := range r.Groups {
			most = max(most, len(g))
		}
		return most
	}
	large := slices.Clone(resources)
	slices.SortStableFunc(large, func(a, b Resource) int { return size(b) - size(a) })
	order := func(a, b int) int { return cmp.Or(core(a)-core(b), a-b) }
	keys := make(map[int][]int) // of each rank the first one of its part, from the largest part on, and itself
	for _, rank := range ranks {
		keys[rank] = slices.Repeat([]int{rank}, len(large)+1)
	}
	for k, r := range large {
		for _, group := range r.Groups {
			first := slices.MinFunc(group, order)
			for _, rank := range group {
				if key := keys[rank]; key != nil {
					key[k] = first
				}
			}
		}
	}
	slices.SortFunc(ranks, func(a, b int) int { return slices.CompareFunc(keys[a], keys[b], order) })
}
