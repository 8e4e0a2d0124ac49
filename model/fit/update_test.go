package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// TestRemeasuredKeepsWhatWasNotMeasured: of three racks of two, pairs in the first
// rack and between the first two are measured. The level of racks has the new time, the rack
// that was measured too, the others the old one scaled with the level; levels that only have
// new latencies keep their gap.
func TestRemeasuredKeepsWhatWasNotMeasured(t *testing.T) {
	c, err := gen.Parse("tree:3x2 latency=8us,2us rate=10Gbps,10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	groups := append([]topology.Group(nil), c.Hierarchy.Groups()[1:]...)
	groups[2].Latency = 8e-6 // twice its level's
	h, err := topology.NewHierarchy(6, c.Hierarchy.Levels(), groups, 20e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.New(&topology.Result{Graph: c.Graph, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{
		LevelBandwidth: []float64{1e9, 0.5e9}, Law: model.Law{RTTBias: 0.25}, Measured: model.Metadata{Bytes: 8, Tool: "before"},
	})
	if err != nil {
		t.Fatal(err)
	}
	single := func(src, dst int, bytes int64, seconds float64) Observation {
		return Observation{Transfers: []model.Transfer{{Src: src, Dst: dst, Bytes: bytes}}, Seconds: []float64{seconds}}
	}
	m := &Remeasurement{
		Observations: []Observation{
			single(0, 1, 8, 7e-6), single(1, 0, 8, 6e-6), // the least counts
			single(0, 2, 8, 30e-6), single(0, 2, 1e6, 30e-6+1e-2),
		},
		Links: []topology.Arc{
			{From: 0, To: 7, Latency: 3e-6, Bandwidth: math.NaN()},
			{From: 7, To: 6, Latency: math.NaN(), Bandwidth: 1e8},
		},
		Warnings: []string{"uncertain"}, Measured: model.Metadata{Tool: "after", Bytes: 99},
	}
	got, err := Update(n, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		src, dst int
		bytes    int64
		want     float64
	}{
		{0, 1, 8, 6e-6},
		{2, 3, 8, 6e-6},              // 4 us before, as their level: 6 now
		{4, 5, 8, 12e-6},             // 8 before
		{0, 1, 8 + 1e6, 6e-6 + 1e-3}, // the gap of 1 GB/s stays
		{1, 2, 8, 30e-6},
		{1, 2, 1e6, 30e-6 + 1e-2},
	} {
		if t1 := got.Time(tt.src, tt.dst, tt.bytes); math.Abs(t1/tt.want-1) > 1e-6 {
			t.Errorf("Time(%d, %d, %d) = %g, want %g", tt.src, tt.dst, tt.bytes, t1, tt.want)
		}
	}
	arc := func(u, v int) topology.Arc { return got.Graph().Arcs()[got.Graph().ArcIndex(u, v)] }
	before := c.Graph.Arcs()[c.Graph.ArcIndex(0, 7)]
	if a := arc(0, 7); a.Latency != 3e-6 || a.Bandwidth != before.Bandwidth {
		t.Errorf("0->7: %+v", a)
	}
	if a := arc(7, 6); a.Latency != 8e-6 || a.Bandwidth != 1e8 {
		t.Errorf("7->6: %+v", a)
	}
	if m := got.Measured(); m.Tool != "after" || m.Bytes != 8 || got.Settings().RTTBias != 0.25 || !strings.Contains(strings.Join(got.Warnings(), "; "), "uncertain") {
		t.Errorf("%+v, bias %g, warnings %q", m, got.Settings().RTTBias, got.Warnings())
	}

	for _, tt := range []struct {
		m    Remeasurement
		want string
	}{
		{Remeasurement{Observations: []Observation{single(0, 6, 8, 1)}}, "observation 0: transfer 0"},
		{Remeasurement{Links: []topology.Arc{{From: 0, To: 1}}}, "Links[0]: 0 to 1: the graph has no such arc"},
		{Remeasurement{Links: []topology.Arc{{From: 0, To: 70}}}, "Links[0]: 0 to 70"},
		{Remeasurement{Links: []topology.Arc{{From: 0, To: 7, Latency: -1, Bandwidth: math.NaN()}}}, "latency"},
	} {
		if _, err := Update(n, &tt.m); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}
