package fit

import (
	"math"
	"testing"

	"github.com/topocast/topocast/model"
)

// TestFitOfTransfersShorterThanTheLatency: on a busy machine a short message may take longer than a long one did before. Its link is
// fast then, and the fit ends with numbers.
func TestFitOfTransfersShorterThanTheLatency(t *testing.T) {
	racks := pairsOfTwo(t)
	latency := racks.Hierarchy.Latency(0, 1)
	var seen []Observation
	for _, pair := range [][2]int{{0, 1}, {1, 0}} {
		seen = append(seen, Observation{
			Transfers: []model.Transfer{{Src: pair[0], Dst: pair[1], Bytes: 1e6}}, Seconds: []float64{latency / 2},
		})
	}
	fit, err := Network(racks, seen, nil)
	if err != nil {
		t.Fatal(err)
	}
	if x := fit.Network.Time(0, 1, 1e6); !(x > 0) || math.IsInf(x, 0) {
		t.Errorf("1 MB is predicted to take %g s", x)
	}
}
