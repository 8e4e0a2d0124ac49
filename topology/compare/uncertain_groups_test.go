package compare_test

import (
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
)

// The reference says two groups of four and nothing else. Where these were measured with a confidence below 0.9 nobody can tell; where
// other groups were, they are missing.
func TestUncertainGroupsAreNoDifference(t *testing.T) {
	measured := wired(t, "tree:2x4 latency=10us,2us")
	arcs := slices.Clone(measured.Arcs())
	for i := range arcs {
		arcs[i].Latency, arcs[i].Bandwidth = math.NaN(), math.NaN()
	}
	reference, err := measured.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	groups := func(confidence float64, lists ...[]int) *topology.Hierarchy {
		var all []topology.Group
		for _, hosts := range lists {
			all = append(all, topology.Group{Hosts: hosts, Latency: 4e-6, Confidence: confidence})
		}
		h, err := topology.NewHierarchy(8, []topology.Level{{Latency: 4e-6}}, all, 24e-6)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	racks := [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}
	for _, c := range []struct {
		name      string
		measured  *topology.Hierarchy
		reference *topology.Hierarchy
		want      compare.Outcome
	}{
		{"confident on both sides", groups(1, racks...), groups(math.NaN(), racks...), compare.Same},
		{"measured, uncertain", groups(0.8, racks...), groups(math.NaN(), racks...), compare.Unknown},
		{"uncertain in the reference", groups(1, racks...), groups(0.8, racks...), compare.Unknown},
		{"other uncertain groups", groups(0.8, []int{0, 1}, []int{4, 5}), groups(math.NaN(), racks...), compare.Differs},
	} {
		found := compareLinks(t, measured, reference, &compare.LinkSettings{MeasuredGroups: c.measured, ReferenceGroups: c.reference})
		if found.Outcome != c.want || (len(found.Warnings) == 2) != (c.want == compare.Unknown) {
			t.Errorf("%s: outcome %v, findings %v, warnings %q, want %v", c.name, found.Outcome, found.Findings, found.Warnings, c.want)
		}
	}
}
