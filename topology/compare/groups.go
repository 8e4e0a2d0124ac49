package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A GroupComparison says which groups of two hierarchies of the same hosts are
// the same sets.
type GroupComparison struct {
	Same    [][]int // hosts of groups that both have
	Missing [][]int // of the reference only
	Extra   [][]int // of the measured one only
	Crossed []Crossing
	Moved   []MovedHost // those in other groups than specified, the most often first
}

// A MovedHost is not in a group that is specified, or in one that is not, so many times.
type MovedHost struct{ Host, Times int }

// mostlyTheSame is the share of the hosts of either of two groups that are in both, above
// which one stands for the other: above a half no two disjoint groups can.
const mostlyTheSame = 0.5

// Groups compares two trees by their exact groups, levels aside. Hosts
// have the same numbers in both. For each group of the reference that is
// missing, the measured group most like it is looked up; if they share half of
// their hosts or more (Jaccard), the hosts in one of them only have moved. O(groups * hosts) per
// missing group.
func Groups(measured, reference *topology.Hierarchy) (*GroupComparison, error) {
	if measured.Hosts() != reference.Hosts() {
		return nil, fmt.Errorf("compare: groups: %d hosts measured, %d in the reference", measured.Hosts(), reference.Hosts())
	}
	key := func(hosts []int) string { return fmt.Sprint(hosts) }
	sets := func(h *topology.Hierarchy) map[string]bool {
		m := map[string]bool{}
		for _, g := range h.Groups()[1:] {
			m[key(g.Hosts)] = true
		}
		return m
	}
	found, specified := sets(measured), sets(reference)
	c := &GroupComparison{Crossed: crossings(measured, reference)}
	for _, g := range measured.Groups()[1:] {
		if k := key(g.Hosts); !specified[k] {
			specified[k] = true // list equal sets of two levels once
			c.Extra = append(c.Extra, g.Hosts)
		}
	}
	votes := make([]int, reference.Hosts())
	in := make([]bool, reference.Hosts())
	listed := map[string]bool{}
	for _, g := range reference.Groups()[1:] {
		k := key(g.Hosts)
		if listed[k] {
			continue
		}
		listed[k] = true
		if found[k] {
			c.Same = append(c.Same, g.Hosts)
			continue
		}
		c.Missing = append(c.Missing, g.Hosts)
		clear(in)
		for _, h := range g.Hosts {
			in[h] = true
		}
		best, share := -1, mostlyTheSame
		for i, m := range measured.Groups()[1:] {
			common := 0
			for _, h := range m.Hosts {
				if in[h] {
					common++
				}
			}
			if s := float64(common) / float64(len(m.Hosts)+len(g.Hosts)-common); s > share || s == share && best < 0 {
				best, share = i+1, s
			}
		}
		if best < 0 {
			continue
		}
		for _, h := range measured.Groups()[best].Hosts {
			in[h] = !in[h] // of both: out; of the measured one only: in
		}
		for h, odd := range in {
			if odd {
				votes[h]++
			}
		}
	}
	for h, n := range votes {
		if n > 0 {
			c.Moved = append(c.Moved, MovedHost{h, n})
		}
	}
	slices.SortFunc(c.Moved, func(a, b MovedHost) int { return cmp.Or(b.Times-a.Times, a.Host-b.Host) })
	slices.SortFunc(c.Extra, slices.Compare)
	slices.SortFunc(c.Missing, slices.Compare)
	slices.SortFunc(c.Same, slices.Compare)
	return c, nil
}

// Findings are the groups that one side has alone, with their hosts by name.
func (c *GroupComparison) Findings(names []string) []Finding {
	var all []Finding
	list := func(kind Verdict, groups [][]int) {
		for _, hosts := range groups {
			f := Finding{Kind: kind, Link: -1, Class: -1, Times: math.NaN()}
			for _, h := range hosts {
				f.Hosts = append(f.Hosts, names[h])
			}
			all = append(all, f)
		}
	}
	list(FoundMissingGroup, c.Missing)
	list(FoundExtraGroup, c.Extra)
	return all
}
