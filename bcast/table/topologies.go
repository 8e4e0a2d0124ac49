package table

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// A Topology is groups of the ranks that some choices follow instead of those of the network's hierarchy. They
// are in the table, so that whoever reads it makes the same plans.
type Topology struct {
	Name   string
	Levels [][][]int // the groups of each level, the finest first: their ranks, ascending; none: there are no groups
}

// Found is the name of the groups of the network. Tables need no groups by that name.
const Found = "found"

// maxTopologyName bounds names of topologies in bytes.
const maxTopologyName = 64

// IsTopologyName tells whether a topology may be called so: plain text that stands in lists and brackets.
func IsTopologyName(name string) bool {
	return name != "" && len(name) <= maxTopologyName && plain(name) && !strings.ContainsAny(name, ",()[]\"")
}

// Levels are the groups of a hierarchy, but the one of all ranks, as a Topology has them. A level may have none.
func Levels(h *topology.Hierarchy) [][][]int {
	levels := make([][][]int, len(h.Levels()))
	for _, g := range h.Groups()[1:] {
		levels[g.Level] = append(levels[g.Level], g.Hosts)
	}
	return levels
}

// SameLevels tells whether two topologies have the same groups.
func SameLevels(a, b [][][]int) bool {
	return slices.EqualFunc(a, b, func(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) })
}

// Tree is the topology as a hierarchy of so many ranks. It refuses what nests in none.
func (t *Topology) Tree(ranks int) (*topology.Hierarchy, error) {
	levels := make([]topology.Level, len(t.Levels))
	var groups []topology.Group
	for i, of := range t.Levels {
		levels[i] = topology.Level{Latency: math.NaN(), Confidence: math.NaN()}
		for _, members := range of {
			groups = append(groups, topology.Group{Hosts: members, Level: i, Latency: math.NaN(), Confidence: math.NaN()})
		}
	}
	h, err := topology.NewHierarchy(ranks, levels, groups, math.NaN())
	if err != nil {
		return nil, fmt.Errorf("table: topology %s: %w", t.Name, err)
	}
	return h, nil
}

// checkTopologies refuses topologies that cannot be, and cells that follow one that is not there.
func (t *Tuning) checkTopologies() error {
	for i, x := range t.Topologies {
		if !IsTopologyName(x.Name) {
			return fmt.Errorf("topology %d: name %q: want 1 to %d bytes of plain text without commas and brackets", i, x.Name, maxTopologyName)
		}
		if slices.ContainsFunc(t.Topologies[:i], func(o Topology) bool { return o.Name == x.Name }) {
			return fmt.Errorf("topology %s is given twice", x.Name)
		}
		if _, err := x.Tree(t.Ranks); err != nil {
			return err
		}
	}
	for i, c := range t.Cells {
		if c.Topology != "" && t.topology(c.Topology) == nil {
			return fmt.Errorf("cell %d: topology %q is not in the table", i, c.Topology)
		}
	}
	return nil
}

// topology is the one of the name, or nil.
func (t *Tuning) topology(name string) *Topology {
	for i := range t.Topologies {
		if t.Topologies[i].Name == name {
			return &t.Topologies[i]
		}
	}
	return nil
}

// adopt takes the cell of an older tuning of the same job, with its topology, unless that is another one now.
func (t *Tuning) adopt(at int, c Cell, from *Tuning) {
	if c.Topology != "" {
		x := from.topology(c.Topology)
		switch own := t.topology(c.Topology); {
		case own == nil:
			t.Topologies = append(t.Topologies, *x)
		case !SameLevels(own.Levels, x.Levels):
			return
		}
	}
	t.Cells = slices.Insert(t.Cells, at, c)
}
