package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// pairsOfTwo is a machine of two groups of two ranks, 2 us apart inside and 8 us outside.
func pairsOfTwo(t *testing.T) *topology.Result {
	t.Helper()
	var arcs []topology.Arc
	for host := range 4 {
		arcs = topology.AppendLink(arcs, host, 4+host/2, 1e-6, math.NaN())
	}
	arcs = topology.AppendLink(arcs, 4, 5, 6e-6, math.NaN())
	g, err := topology.NewGraph(4, 2, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(4, []topology.Level{{Latency: 2e-6, Confidence: 1}}, []topology.Group{
		{Hosts: []int{0, 1}, Latency: 2e-6, Confidence: 1}, {Hosts: []int{2, 3}, Latency: 2e-6, Confidence: 1},
	}, 8e-6)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Result{Graph: g, Hierarchy: h}
}

// TestFitTakesParameters, by hand: the level's times stay 2 us and 12 us, of which the parameters say that L is 1.5 us (the median of
// 1.4, 1.5 and 1.6), so that g is 0.5 and 10.5 us; os of 0.2 us is what was measured, and or of 3 us is more than
// g(8) = 0.5 us covers, and becomes that. Of the other level nothing was measured.
func TestFitTakesParameters(t *testing.T) {
	var observations []Observation
	for src := range 4 {
		for dst := range 4 {
			for bytes, seconds := range map[int64][2]float64{8: {2e-6, 8e-6}, 1 << 20: {12e-6, 108e-6}} {
				if src != dst {
					far := 0
					if src/2 != dst/2 {
						far = 1
					}
					observations = append(observations, Observation{Transfers: []model.Transfer{{Src: src, Dst: dst, Bytes: bytes}}, Seconds: []float64{seconds[far]}})
				}
			}
		}
	}
	parameters := func(src, dst int, latency float64) model.PairParams {
		return model.PairParams{Src: src, Dst: dst, PLogP: model.PLogP{
			Latency: latency, Sizes: []int64{8, 1 << 20}, Gap: []float64{0.5e-6, 10e-6}, Send: []float64{0.2e-6, 4e-6}, Recv: []float64{3e-6, 3e-6},
		}}
	}
	s := &Settings{
		Network:    model.Settings{Measured: model.Metadata{Bytes: 8}},
		Parameters: []model.PairParams{parameters(0, 1, 1.4e-6), parameters(1, 0, 1.6e-6), parameters(2, 3, 1.5e-6)},
		Overhead:   0.3e-6,
	}
	f, err := Network(pairsOfTwo(t), observations, s)
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	in, out := f.Network.Levels()[0], f.Network.Levels()[1]
	if !near(in.Latency, 1.5e-6) || !near(in.Gap[0], 0.5e-6) || !near(in.Gap[1], 10.5e-6) {
		t.Errorf("L = %g s, g = %v s; want 1.5, 0.5 and 10.5 us", in.Latency, in.Gap)
	}
	if !near(in.Send[0], 0.2e-6) || !near(in.Send[1], 4e-6) || !near(in.Recv[0], 0.5e-6) || !near(in.Recv[1], 3e-6) {
		t.Errorf("os = %v, or = %v s; want 0.2 and 4, 0.5 and 3 us", in.Send, in.Recv)
	}
	without, err := Network(pairsOfTwo(t), observations, &Settings{Network: s.Network})
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int64{0, 8, 1000, 1 << 20, 1 << 22} {
		if got, want := f.Network.Time(0, 1, bytes), without.Network.Time(0, 1, bytes); !near(got, want) {
			t.Errorf("Time of %d bytes = %g s, want %g as without parameters", bytes, got, want)
		}
	}
	if !near(out.Latency, 8e-6) || !near(out.Send[0], 0.3e-6) {
		t.Errorf("the other level: L = %g, os = %v s; want 8 us and the overhead of all", out.Latency, out.Send)
	}
	s.Parameters = append(s.Parameters, parameters(0, 4, 1))
	if _, err := Network(pairsOfTwo(t), observations, s); err == nil || !strings.Contains(err.Error(), "parameters 3: from 0 to 4: want two different ranks in [0, 4)") {
		t.Errorf("a rank that is not there: %v", err)
	}
}
