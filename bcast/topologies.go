package bcast

import (
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
	table.Topology // its Name is "" of the groups that were found
	Costs          []byte
	Wanted         bool // plans along it come into question; otherwise it is there for choices of the network's table

	tree      *topology.Hierarchy
	costs     *schedule.Costs
	from      int                // index of its first algorithm in the catalogue
	evaluator *predict.Evaluator // made when first needed
}

// group notes in the terms the topologies that were asked for, and those of what is tuned. view is the network as
// the ranks see it; nil: there is none.
func (t *terms) group(asked []Topology, view *model.Network, places []mpi.Place) error {
	own := grouping{Wanted: asked == nil}
	if view != nil {
		own.Levels = table.Levels(view.Hierarchy())
	}
	all := []grouping{own}
	for _, a := range asked {
		if a.Name == found && a.Network == nil {
			all[0].Wanted = true
			continue
		}
		levels, err := t.levelsOf(a, view, places)
		if err != nil {
			return fmt.Errorf("bcast: settings: topology %q: %w", a.Name, err)
		}
		if same := slices.IndexFunc(all, func(g grouping) bool { return table.SameLevels(g.Levels, levels) }); same >= 0 {
			all[same].Wanted = true
			t.Warnings = append(t.Warnings, fmt.Sprintf("topology %s has the groups of %s: compared once", a.Name, all[same].told()))
			continue
		}
		all = append(all, grouping{Topology: table.Topology{Name: a.Name, Levels: levels}, Wanted: true})
	}
	for _, stored := range t.tunedAlong {
		if i := slices.IndexFunc(all, func(g grouping) bool { return g.Name == stored.Name }); i < 0 {
			all = append(all, grouping{Topology: stored})
		} else if !table.SameLevels(all[i].Levels, stored.Levels) {
			t.Warnings = append(t.Warnings, fmt.Sprintf("the network's table of tuned broadcasts follows other groups by the name of %s: those choices are not used", stored.Name))
			t.Tuned = slices.DeleteFunc(t.Tuned, func(c tuned) bool { return c.Topology == stored.Name })
		}
	}
	t.FoundIsOut, t.Groupings = !all[0].Wanted, all[1:]
	if view == nil {
		return nil
	}
	for i := range t.Groupings {
		g := &t.Groupings[i]
		tree, err := g.Tree(len(places))
		if err == nil {
			g.Costs, err = predict.CostsAlong(view, tree).AppendBinary(nil)
		}
		if err != nil {
			return fmt.Errorf("bcast: new: topology %s: %w", g.Name, err)
		}
	}
	return nil
}

// told is the name of a grouping for people.
func (g *grouping) told() string {
	if g.Name == "" {
		return found
	}
	return g.Name
}

// levelsOf are the groups of a topology of the ranks, besides those that were found.
func (t *terms) levelsOf(a Topology, view *model.Network, places []mpi.Place) ([][][]int, error) {
	if a.Network != nil {
		at := locations(places)
		fit, warnings, err := fitting(a.Network, at)
		if err != nil {
			return nil, err
		}
		for _, w := range warnings {
			t.Warnings = append(t.Warnings, "topology "+a.Name+": "+w)
		}
		n, err := fit.view(a.Network, at)
		if err != nil {
			return nil, err
		}
		return table.Levels(n.Hierarchy()), nil
	}
	known := []string{found, byHost, ungrouped}
	switch a.Name {
	case byHost:
		var groups [][]int
		of := numbered(places)
		for host := range slices.Max(of) + 1 {
			var ranks []int
			for r, h := range of {
				if h == host {
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
	if view != nil {
		all := table.Levels(view.Hierarchy())
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

// groupingsOf returns the topologies of the terms, that of the network first, with their groups and costs.
func groupingsOf(t *terms, known *knowledge, ranks int) (all []grouping, err error) {
	all = append([]grouping{{Wanted: !t.FoundIsOut}}, t.Groupings...)
	all[0].tree, all[0].costs = known.tree, known.costs
	for i := range all[1:] {
		g := &all[1+i]
		if g.tree, err = g.Tree(ranks); err != nil {
			return nil, fmt.Errorf("bcast: new: topology %s: %w", g.Name, err)
		}
		if g.costs, err = costsOf(g.Costs); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// arrange makes the catalogue: the algorithms with their settings along each topology.
func (b *Broadcaster) arrange(algorithms []schedule.Algorithm) {
	for i := range b.groupings {
		g := &b.groupings[i]
		g.from = len(b.catalogue)
		b.catalogue = append(b.catalogue, schedule.Variants(algorithms, schedule.Problem{Ranks: b.ranks, Tree: g.tree, Costs: g.costs})...)
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

// predictors is the evaluator of each topology that is wanted, which it makes if need be.
func (b *Broadcaster) predictors() ([]*grouping, error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	var all []*grouping
	for i := range b.groupings {
		g := &b.groupings[i]
		if !g.Wanted {
			continue
		}
		if g.evaluator == nil {
			if g.evaluator = b.evaluator; i > 0 {
				g.evaluator = b.evaluator.Along(g.tree, g.costs)
			}
		}
		all = append(all, g)
	}
	return all, nil
}

// gathered are the plans that find proposes along each topology, the fastest by prediction first, among equals those of the
// earlier topology.
func (b *Broadcaster) gathered(find func(e *predict.Evaluator, list []schedule.Algorithm) []predict.Candidate) ([]predict.Candidate, error) {
	all, err := b.predictors()
	if err != nil {
		return nil, err
	}
	var plans []predict.Candidate
	for _, g := range all {
		for _, p := range find(g.evaluator, b.algorithms(g)) {
			p.Index += g.from
			p.Topology = g.Name
			plans = append(plans, p)
		}
	}
	if len(all) > 1 {
		predict.Order(plans)
	}
	return plans, nil
}

// distinct are the plans without those that are most likely the schedule of an earlier one along another topology: by
// the same algorithm, in the same segments and the same time. Those that are asked for by their whole names stay.
func distinct(plans []predict.Candidate, asked []string) []predict.Candidate {
	var kept []predict.Candidate
	for _, p := range plans {
		same := func(q predict.Candidate) bool {
			return p.Topology != q.Topology && p.Predicted == q.Predicted && p.Segment == q.Segment && p.Name() == q.Name()
		}
		if slices.Contains(asked, p.NameAlong()) || !slices.ContainsFunc(kept, same) {
			kept = append(kept, p)
		}
	}
	return kept
}
