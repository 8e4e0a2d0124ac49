package topology

import (
	"fmt"
	"math"
	"slices"
)

// ConfidentFrom is the least confidence of a confident group. Confident groups are those that
// the measurements set off clearly; schedules, models, placement and files for
// other tools follow them alone. A group below is uncertain: it is reported, with
// its confidence, and decides nothing. Of the groups with a confidence from 0.5 to
// 0.9 that linkage.Robust finds on simulated machines one in eight does not exist.
const ConfidentFrom = 0.9

// A Hierarchy nests the hosts 0..Hosts()-1 of a machine in groups. It is a
// tree of Groups with the group of all hosts as its root, and it is immutable.
type Hierarchy struct {
	hosts    int
	levels   []Level
	groups   []Group
	smallest []int // host -> index of the smallest group that holds it
}

// A Level is a class of groups of the same kind: all sockets, all racks.
type Level struct {
	Name       string  // "" if nobody has named it
	Kind       Kind    // what the hosts of its groups have in common; KindUnknown if that is not known, or differs
	Latency    float64 // s, typical between hosts that a group of this level joins and no finer one; NaN if not known
	Confidence float64 // in [0, 1]: the least of its groups', so that no uncertain one hides; NaN if not computed
}

// A Group is a node of a Hierarchy.
type Group struct {
	Hosts      []int   // all hosts below, ascending
	Level      int     // index into Levels(), finest 0; len(Levels()) for the root
	Latency    float64 // s, typical between hosts of different children; NaN if not known
	Confidence float64 // in [0, 1]: the confidence in the group, see ConfidentFrom; 1 for the root and for groups that are given; NaN if not computed
	Parent     int     // index into Groups(), -1 for the root
	Children   []int   // indices into Groups(), ascending; hosts in none of them hang directly below the group
}

// Confident tells whether the group is one to follow: its confidence is at least
// ConfidentFrom or was not computed, as of groups that are given and not found.
func (g *Group) Confident() bool { return math.IsNaN(g.Confidence) || g.Confidence >= ConfidentFrom }

// NewHierarchy builds the tree. Of each group only Hosts, Level, Latency and
// Confidence are read, Parent and Children are worked out; rootLatency is the
// typical latency in s between hosts that no group joins. Slices are copied.
//
// It refuses groups of fewer than two hosts, of all hosts, with hosts outside
// [0, hosts) or given twice, or of a level outside levels. It refuses groups that
// overlap without nesting in a strictly coarser level, and latencies and confidences
// that cannot be. O(total size of the groups), times their depth.
func NewHierarchy(hosts int, levels []Level, groups []Group, rootLatency float64) (*Hierarchy, error) {
	if hosts < 0 {
		return nil, fmt.Errorf("topology: hierarchy: %d hosts: want at least 0", hosts)
	}
	if err := checkFigures(rootLatency, 1); err != nil {
		return nil, fmt.Errorf("topology: hierarchy: all hosts: %w", err)
	}
	for i, l := range levels {
		if err := checkFigures(l.Latency, l.Confidence); err != nil {
			return nil, fmt.Errorf("topology: hierarchy: level %d: %w", i, err)
		}
	}
	h := &Hierarchy{hosts: hosts, levels: slices.Clone(levels), smallest: make([]int, hosts)}

	own := make([]Group, 0, len(groups))
	for i, g := range groups {
		hs := slices.Clone(g.Hosts)
		slices.Sort(hs)
		switch {
		case len(hs) < 2 || len(hs) >= hosts:
			return nil, fmt.Errorf("topology: hierarchy: group %d of level %d: %d of %d hosts: want at least 2 and not all", i, g.Level, len(hs), hosts)
		case hs[0] < 0 || hs[len(hs)-1] >= hosts:
			return nil, fmt.Errorf("topology: hierarchy: group %d of level %d: host outside [0, %d)", i, g.Level, hosts)
		case g.Level < 0 || g.Level >= len(levels):
			return nil, fmt.Errorf("topology: hierarchy: group %d: level %d: want in [0, %d)", i, g.Level, len(levels))
		}
		for k := 1; k < len(hs); k++ {
			if hs[k] == hs[k-1] {
				return nil, fmt.Errorf("topology: hierarchy: group %d of level %d: host %d given twice", i, g.Level, hs[k])
			}
		}
		if err := checkFigures(g.Latency, g.Confidence); err != nil {
			return nil, fmt.Errorf("topology: hierarchy: group %d of level %d: %w", i, g.Level, err)
		}
		own = append(own, Group{Hosts: hs, Level: g.Level, Latency: g.Latency, Confidence: g.Confidence})
	}
	// Coarse before fine, then by smallest host: the order of output.
	slices.SortStableFunc(own, func(a, b Group) int {
		if a.Level != b.Level {
			return b.Level - a.Level
		}
		return a.Hosts[0] - b.Hosts[0]
	})
	h.groups = append(h.groups, Group{Hosts: allHosts(hosts), Level: len(levels), Latency: rootLatency, Confidence: 1, Parent: -1})
	for _, g := range own {
		g.Parent = h.smallest[g.Hosts[0]]
		parent := h.groups[g.Parent]
		for _, x := range g.Hosts {
			if h.smallest[x] != g.Parent || parent.Level <= g.Level {
				return nil, fmt.Errorf("topology: hierarchy: group of host %d at level %d does not nest: it overlaps with the group of host %d at level %d",
					g.Hosts[0], g.Level, h.groups[h.smallest[x]].Hosts[0], h.groups[h.smallest[x]].Level)
			}
		}
		for _, x := range g.Hosts {
			h.smallest[x] = len(h.groups)
		}
		h.groups[g.Parent].Children = append(h.groups[g.Parent].Children, len(h.groups))
		h.groups = append(h.groups, g)
	}
	return h, nil
}

// checkFigures refuses a latency in s and a confidence that no group can have.
func checkFigures(latency, confidence float64) error {
	if latency < 0 || math.IsInf(latency, 0) {
		return fmt.Errorf("latency %g s: want at least 0 and finite, or NaN", latency)
	}
	if confidence < 0 || confidence > 1 {
		return fmt.Errorf("confidence %g: want in [0, 1], or NaN", confidence)
	}
	return nil
}

// Hosts is the number of hosts.
func (h *Hierarchy) Hosts() int { return h.hosts }

// Levels returns the levels from fine to coarse, without the root. The slice
// is the hierarchy's own and must not be changed.
func (h *Hierarchy) Levels() []Level { return h.levels }

// Groups returns all groups, the root first and every parent before its
// children. The slice is the hierarchy's own and must not be changed.
func (h *Hierarchy) Groups() []Group { return h.groups }

// GroupsAt returns the groups of one level, ordered by their smallest host.
func (h *Hierarchy) GroupsAt(level int) []Group {
	var at []Group
	for _, g := range h.groups {
		if g.Level == level {
			at = append(at, g)
		}
	}
	return at
}

// Smallest is the index into Groups of the smallest group that holds the host; 0, the root, if
// none but it does.
func (h *Hierarchy) Smallest(host int) int { return h.smallest[host] }

// Common is the index into Groups of the smallest group that holds both hosts.
// O(number of levels), no allocation.
func (h *Hierarchy) Common(a, b int) int {
	x, y := h.smallest[a], h.smallest[b]
	for x != y {
		// Parents come before children: the later one is not an ancestor.
		if x > y {
			x = h.groups[x].Parent
		} else {
			y = h.groups[y].Parent
		}
	}
	return x
}

// Latency is the typical latency in s between two different hosts: that of
// the smallest group that joins them. It is 0 for a = b. O(number of levels).
func (h *Hierarchy) Latency(a, b int) float64 {
	if a == b {
		return 0
	}
	return h.groups[h.Common(a, b)].Latency
}

// Confident returns the hierarchy without the groups whose confidence is below the
// threshold, which is ConfidentFrom for what decides; groups whose confidence was
// not computed stay. Levels that lose all their groups are dropped. It is the
// hierarchy itself if all groups stay.
func (h *Hierarchy) Confident(threshold float64) *Hierarchy {
	kept := make([]Group, 0, len(h.groups))
	lost := make([]bool, len(h.levels))
	for _, g := range h.groups[1:] {
		if math.IsNaN(g.Confidence) || g.Confidence >= threshold {
			kept = append(kept, g)
		} else {
			lost[g.Level] = true
		}
	}
	if len(kept) == len(h.groups)-1 {
		return h
	}
	confident, err := NewHierarchy(h.hosts, keepLevels(h.levels, kept, func(level int) bool { return !lost[level] }), kept, h.groups[0].Latency)
	if err != nil {
		panic("topology: a part of a hierarchy does not nest: " + err.Error())
	}
	return confident
}

// keepLevels are the levels that the groups are of, and those without groups that are to be kept, if any; the groups get
// the new numbers of their levels.
func keepLevels(levels []Level, groups []Group, keep func(level int) bool) []Level {
	number, used := make([]int, len(levels)), make([]bool, len(levels))
	for _, g := range groups {
		used[g.Level] = true
	}
	var kept []Level
	for i, l := range levels {
		number[i] = len(kept)
		if used[i] || keep != nil && keep(i) {
			kept = append(kept, l)
		}
	}
	for i := range groups {
		groups[i].Level = number[groups[i].Level]
	}
	return kept
}
