package latencyfit_test

import (
	"testing"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
)

// What a specification says of a link may be its cable's latency, and what was measured a
// library's: whatever the scale of the latencies given, those of the machine that
// was measured come out, of trees as of other graphs.
func TestFitLatenciesFromAnotherScale(t *testing.T) {
	for _, spec := range []string{"tree:3x4 latency=5us,1us", "ring:5 hosts=3 latency=1us"} {
		machine, measured := topotest.Generate(t, spec)
		for _, scale := range []float64{1e-6, 0.1, 0.3, 0.8, 1, 3, 10, 1e6} {
			given := relinked(t, machine.Graph, func(a topology.Arc) float64 { return scale * a.Latency })
			if off := worst(fitLatencies(t, given, measured, nil).Graph, machine.Graph); off > 1e-3 {
				t.Errorf("%s, given %g times as large: latencies are off by %.2g, want below 0.001", spec, scale, off)
			}
		}
	}
}
