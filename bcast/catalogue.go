package bcast

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/topology"
)

// A grouping is groups of the ranks with their costs, as rank 0 distributes them. It has no name if it is that of the network,
// and no tree where nothing is known of the ranks.
type grouping struct {
	table.Topology
	Costs  *schedule.Costs // of the ranks; nil: not known
	Wanted bool            // plans along them come into question; otherwise they are there for choices of the network's table

	tree *topology.Hierarchy
}

// build makes the hierarchy of a grouping, once.
func (g *grouping) build(ranks int) (err error) {
	if g.tree != nil || g.Name == "" && g.Levels == nil {
		return nil
	}
	if g.tree, err = (&table.Topology{Name: cmp.Or(g.Name, table.Found), Levels: g.Levels}).Tree(ranks); err != nil {
		return fmt.Errorf("bcast: new: %w", err)
	}
	return nil
}

// arrange makes the catalogue: the algorithms with their settings along each of the groups. Those along groups of which
// plans come into question are first: b.searched has these, by groups.
func (b *Broadcaster) arrange(algorithms []schedule.Algorithm, groupings []grouping) {
	p := schedule.Problem{Ranks: b.ranks, Tree: b.groups.tree, Costs: b.groups.Costs}
	for _, wanted := range []bool{true, false} {
		for i := range groupings {
			g := &groupings[i]
			if g.Wanted != wanted {
				continue
			}
			list := schedule.Variants(g.along(algorithms), p)
			b.catalogue = append(b.catalogue, list...)
			if wanted && len(list) > 0 {
				b.searched = append(b.searched, list)
			}
		}
	}
}

// along is the algorithms along the groups.
func (g *grouping) along(algorithms []schedule.Algorithm) (all []schedule.Algorithm) {
	if g.Name == "" {
		return algorithms
	}
	for _, a := range algorithms {
		all = append(all, along{a, g})
	}
	return all
}

// find is the index of an algorithm of the catalogue by its text, along groups of the given name; or -1.
func (b *Broadcaster) find(text, groups string) int {
	return slices.IndexFunc(b.catalogue, func(a schedule.Algorithm) bool {
		ownText, ownGroups := textOf(a)
		return ownGroups == groups && ownText == text
	})
}

// textOf names an algorithm with its settings, and the groups that it follows; "": those of the network.
func textOf(a schedule.Algorithm) (text, groups string) {
	if x, ok := a.(along); ok {
		return schedule.Text(x.Algorithm), x.groups.Name
	}
	return schedule.Text(a), ""
}
