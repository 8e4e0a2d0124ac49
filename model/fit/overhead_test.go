package fit

import (
	"math"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// TestFitGivesOverheads: all levels get the overhead at every size, but never more than half of
// their shortest time, here 10 us of two ranks on one switch.
func TestFitGivesOverheads(t *testing.T) {
	c, err := gen.Parse("tree:2x2 latency=20us,5us rate=1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	found := &topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy}
	var seen []Observation
	for _, bytes := range []int64{8, 1 << 20} {
		for _, far := range []struct {
			dst     int
			seconds float64
		}{{1, 10e-6}, {2, 50e-6}} {
			seen = append(seen, Observation{Transfers: []model.Transfer{{Src: 0, Dst: far.dst, Bytes: bytes}}, Seconds: []float64{far.seconds + float64(bytes-8)/125e6}})
		}
	}
	for overhead, want := range map[float64][2]float64{0: {}, 2e-6: {2e-6, 2e-6}, 8e-6: {5e-6, 8e-6}} {
		fitted, err := Network(found, seen, &Settings{Overhead: overhead, Network: model.Settings{Measured: model.Metadata{Bytes: 8}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range fitted.Network.Levels() {
			if overhead == 0 {
				if l.Send != nil || l.Recv != nil {
					t.Errorf("no overhead: level %d has %v and %v", i, l.Send, l.Recv)
				}
				continue
			}
			for _, got := range [][]float64{l.Send, l.Recv} {
				if len(got) != 2 || math.Abs(got[0]-want[i]) > 0.1*want[i] || got[1] != got[0] {
					t.Errorf("overhead of %g s: level %d has %v, want %g twice", overhead, i, got, want[i])
				}
			}
		}
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Network(found, seen, &Settings{Overhead: bad}); err == nil {
			t.Errorf("an overhead of %g s is accepted", bad)
		}
	}
}
