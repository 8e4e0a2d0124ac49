package bcast

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// A Topology is a way to see the ranks in groups. Plans follow it; what they take is predicted by
// Settings.Network all the same, and then measured.
type Topology struct {
	// Name by which plans and tables tell what they follow. Without a Network it is one of
	//
	//	found    the groups of Settings.Network, all of its levels
	//	hosts    the ranks of one host are a group
	//	flat     there are no groups
	//	level0   the groups of one level of Settings.Network alone, the finest 0
	Name string

	// Network of which these are the groups, as those of these ranks: found by another method, say. Its
	// times are not used.
	Network *model.Network
}

// The names of topologies that need no network of their own.
const (
	found     = "found"
	byHost    = "hosts"
	ungrouped = "flat"
	oneLevel  = "level" // and its number
)

// A grouping is a topology as all ranks know it.
type grouping struct {
	Name   string          // "" for the groups of the network
	Levels [][][]int       // as table.Topology has them
	Costs  *schedule.Costs // of the ranks; nil: not known
	Wanted bool            // plans along it come into question; otherwise it is there for choices of the network's table

	tree      *topology.Hierarchy
	from      int                // index of its first algorithm in the catalogue
	evaluator *predict.Evaluator // made when first needed
}

// group adds the topologies that were asked for to that of the network, and those along which choices were stored.
func (h *handshake) group(asked []Topology, stored []table.Topology, places []mpi.Place) error {
	if err := validateTopologies(asked); err != nil {
		return err
	}
	if h.view != nil {
		h.Groupings[0].Levels = table.Levels(h.view.Hierarchy())
	}
	for _, a := range asked {
		if a.Name == found && a.Network == nil {
			h.Groupings[0].Wanted = true
			continue
		}
		levels, err := h.levelsOf(a, places)
		if err != nil {
			return fmt.Errorf("bcast: settings: topology %q: %w", a.Name, err)
		}
		if same := h.sameGroups(levels); same != nil {
			same.Wanted = true
			h.Warnings = append(h.Warnings, fmt.Sprintf("topology %s has the groups of %s: compared once", a.Name, cmp.Or(same.Name, found)))
			continue
		}
		h.Groupings = append(h.Groupings, grouping{Name: a.Name, Levels: levels, Wanted: true})
	}
	for _, x := range stored {
		if i := slices.IndexFunc(h.Groupings, func(g grouping) bool { return g.Name == x.Name }); i < 0 {
			h.Groupings = append(h.Groupings, grouping{Name: x.Name, Levels: x.Levels})
		} else if !table.SameLevels(h.Groupings[i].Levels, x.Levels) {
			h.Warnings = append(h.Warnings, fmt.Sprintf("the network's table of tuned broadcasts follows other groups by the name of %s: those choices are not used", x.Name))
			h.Tuned = slices.DeleteFunc(h.Tuned, func(c table.Cell) bool { return c.Topology == x.Name })
		}
	}
	for i := range h.Groupings {
		if err := h.Groupings[i].build(len(places)); err != nil {
			return err
		}
		if g := &h.Groupings[i]; h.view != nil {
			g.Costs = predict.CostsAlong(h.view, g.tree)
		}
	}
	return nil
}

// sameGroups is the topology that has the groups already, or nil.
func (h *handshake) sameGroups(levels [][][]int) *grouping {
	for i := range h.Groupings {
		if table.SameLevels(withoutEmpty(h.Groupings[i].Levels), levels) {
			return &h.Groupings[i]
		}
	}
	return nil
}

func withoutEmpty(levels [][][]int) [][][]int {
	return slices.DeleteFunc(slices.Clone(levels), func(groups [][]int) bool { return groups == nil })
}

// build makes the hierarchy of a grouping, once. Where nothing is known of the ranks there is none.
func (g *grouping) build(ranks int) (err error) {
	if g.tree != nil || g.Name == "" && g.Levels == nil {
		return nil
	}
	if g.tree, err = (&table.Topology{Name: cmp.Or(g.Name, found), Levels: g.Levels}).Tree(ranks); err != nil {
		return fmt.Errorf("bcast: new: %w", err)
	}
	return nil
}

// levelsOf are the groups of a topology of the ranks, besides those that were found.
func (h *handshake) levelsOf(a Topology, places []mpi.Place) ([][][]int, error) {
	if a.Network != nil {
		n, warnings, err := networkOf(a.Network, locations(places))
		if err != nil {
			return nil, err
		}
		for _, w := range warnings {
			h.Warnings = append(h.Warnings, "topology "+a.Name+": "+w)
		}
		return withoutEmpty(table.Levels(n.Hierarchy())), nil
	}
	known := []string{found, byHost, ungrouped}
	switch a.Name {
	case byHost:
		var groups [][]int
		of, _ := mpi.NumberHosts(places)
		for host := range slices.Max(of) + 1 {
			var ranks []int
			for r, at := range of {
				if at == host {
					ranks = append(ranks, r)
				}
			}
			if len(ranks) > 1 && len(ranks) < len(places) {
				groups = append(groups, ranks)
			}
		}
		if groups == nil {
			return nil, nil
		}
		return [][][]int{groups}, nil
	case ungrouped:
		return nil, nil
	}
	if h.view != nil {
		all := withoutEmpty(table.Levels(h.view.Hierarchy()))
		for i := range all {
			known = append(known, oneLevel+strconv.Itoa(i))
		}
		if digits, ok := strings.CutPrefix(a.Name, oneLevel); ok {
			if i, err := strconv.Atoi(digits); err == nil && i >= 0 && i < len(all) {
				return all[i : i+1], nil
			}
		}
	}
	return nil, fmt.Errorf("want %s, or one with a network", words.Or(known))
}

// validateTopologies refuses names that tables and lines of text cannot tell apart.
func validateTopologies(asked []Topology) error {
	for i, a := range asked {
		switch {
		case !table.IsTopologyName(a.Name):
			return fmt.Errorf("bcast: settings: topology %d: name %q: want 1 to 64 bytes of plain text without commas and brackets", i, a.Name)
		case a.Network != nil && a.Name == found:
			return fmt.Errorf("bcast: settings: topology %d: %q is the name of the groups of Settings.Network", i, found)
		case slices.ContainsFunc(asked[:i], func(b Topology) bool { return b.Name == a.Name }):
			return fmt.Errorf("bcast: settings: topology %d: %q is given twice", i, a.Name)
		}
	}
	return nil
}

// arrange makes the catalogue: the algorithms with their settings along each topology.
func (b *Broadcaster) arrange(algorithms []schedule.Algorithm) {
	for i := range b.groupings {
		g := &b.groupings[i]
		g.from = len(b.catalogue)
		b.catalogue = append(b.catalogue, schedule.Variants(algorithms, schedule.Problem{Ranks: b.ranks, Tree: g.tree, Costs: g.Costs})...)
		algorithms = withoutNative(algorithms) // its communicators are those of the groups that were found
	}
}

// along is the topology that an algorithm of the catalogue follows.
func (b *Broadcaster) along(index int) *grouping {
	for i := len(b.groupings) - 1; i > 0; i-- {
		if index >= b.groupings[i].from {
			return &b.groupings[i]
		}
	}
	return &b.groupings[0]
}

// algorithms are those of the catalogue along a topology.
func (b *Broadcaster) algorithms(g *grouping) []schedule.Algorithm {
	to := len(b.catalogue)
	for i := range b.groupings[:len(b.groupings)-1] {
		if g == &b.groupings[i] {
			to = b.groupings[i+1].from
		}
	}
	return b.catalogue[g.from:to]
}
