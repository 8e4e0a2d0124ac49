package adaptive

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/confidence"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// result judges the tree and makes it a Topology.
func (f *finding) result() (*topology.Result, error) {
	t := f.tree
	var list []int32
	if t != nil {
		list = t.all()
	}
	if len(list) == 0 || f.unplaced > 0 && f.unplaced == t.n-1 {
		return nil, fmt.Errorf("adaptive: before two hosts were placed: %w", ErrStop)
	}
	h, err := f.hierarchy(list)
	if err != nil {
		return nil, err
	}
	graph, warnings, err := nested.NewFit(nested.Of(h)).Graph()
	if err != nil {
		return nil, err
	}
	found := &topology.Result{Graph: graph, Hierarchy: h, Fit: f.fit(h), Warnings: warnings}
	found.Warnings = append(found.Warnings, f.warnings(h)...)
	return found, nil
}

// judge says how confident each group is, and its latency in s, by all that was read between its children. The least
// sure relation of a group counts, be it inside or to a sibling. What levels of one kind differ by makes no confident group.
func (f *finding) judge() {
	t := f.tree
	f.confidence, f.latency = make(map[int32]float64), make(map[int32]float64)
	for k, v := range t.all() {
		f.confidence[v], f.latency[v] = 1, math.Exp(f.levels.at[t.levelOf(v)])
		switch {
		case k > 0 && f.stopped:
			f.confidence[v] = confidence.UncertainCeiling // nothing was held against it
		case k > 0:
			f.confidence[v] = confidence.OfStep(f.levels.at[t.levelOf(t.parent[v])] - f.levels.at[t.levelOf(v)])
		}
	}
	if f.stopped {
		return
	}
	inside := make(map[int32][]float64)
	for _, r := range f.relations() {
		inside[r.group] = append(inside[r.group], r.tally.z...)
		sure := 1 - f.doubt(r)
		for _, v := range [...]int32{r.group, r.a, r.b} {
			if before, is := f.confidence[v]; is {
				f.confidence[v] = min(before, sure)
			}
		}
	}
	for v, z := range inside {
		if len(z) > 0 {
			f.latency[v] = math.Exp(stats.LowerMedian(z))
		}
	}
}

// reported is the least confidence of a group that is shown, as in linkage.Robust.
const reported = 0.5

// hierarchy is the tree without the groups of too little confidence. No group is slower than the one around it.
func (f *finding) hierarchy(list []int32) (*topology.Hierarchy, error) {
	t := f.tree
	var shown []int32
	var used []int // levels
	for k, v := range list {
		if k > 0 {
			f.latency[v] = min(f.latency[v], f.latency[t.parent[v]])
		}
		if k > 0 && f.confidence[v] >= reported {
			shown, used = append(shown, v), append(used, t.levelOf(v))
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	groups := make([]topology.Group, len(shown))
	for k, v := range shown {
		level, _ := slices.BinarySearch(used, t.levelOf(v))
		groups[k] = topology.Group{Level: level, Latency: f.latency[v], Confidence: f.confidence[v]}
		for _, h := range t.members(v) {
			groups[k].Hosts = append(groups[k].Hosts, int(h))
		}
	}
	return topology.NewHierarchy(t.n, topology.NewLevels(groups), groups, f.latency[list[0]])
}

// fit says how well the levels explain the measurements.
func (f *finding) fit(h *topology.Hierarchy) topology.Fit {
	groups := h.Groups()
	e := stats.NewExplained(len(h.Levels()) + 1)
	for _, r := range f.ledger.log {
		g := groups[h.Common(int(r.A), int(r.B))]
		e.Add(float64(r.Latency), g.Latency)
		e.AddResidual(g.Level, float64(r.Latency), g.Latency)
	}
	fit := topology.Fit{Family: topology.FamilyTree, R2: e.R2(), TreeLikeness: f.core.found.Fit.TreeLikeness, Noise: f.core.noise}
	if len(groups) == 1 {
		fit.Family = topology.FamilyFlat
	}
	fit.Residual, fit.Levels = e.Medians()
	return fit
}

const mostNamed = 6 // hosts in a warning

func (f *finding) warnings(h *topology.Hierarchy) []string {
	var all []string
	uncertain := 0
	for _, g := range h.Groups()[1:] {
		if !g.Confident() {
			uncertain++
		}
	}
	if uncertain > 0 {
		all = append(all, fmt.Sprintf("%s of %d uncertain, not to be relied on", words.Count(uncertain, "group"), len(h.Groups())-1))
	}
	if f.stopped {
		all = append(all, fmt.Sprintf("time was up: %s of %d without a place, and no group verified", words.Count(f.unplaced, "host"), h.Hosts()))
	}
	if len(f.strays) > 0 {
		hosts := slices.Clone(f.strays)
		slices.Sort(hosts)
		text := fmt.Sprint(hosts)
		if len(hosts) > mostNamed {
			text = fmt.Sprintf("%v and %d more", hosts[:mostNamed], len(hosts)-mostNamed)
		}
		all = append(all, fmt.Sprintf("hosts %s read latencies that no level explains: they may be slow, and stand where they are nearest", text))
	}
	return all
}
