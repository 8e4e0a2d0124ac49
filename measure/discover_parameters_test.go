package measure_test

import (
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology/cluster"
)

// TestDiscoverByParameters: the groups are those of PLogP's distances, and their latencies those of the
// measurements: a message between two ranks of one switch takes 10 us on the links, between two switches 30 us.
func TestDiscoverByParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for _, distance := range []plogp.Distance{plogp.RoundTrip, plogp.Profile} {
		d := discovered(t, "tree:2x2 latency=10us,5us rate=10Gbps", &simnet.Settings{Noise: simnet.Noise{Sigma: 0.01}}, &measure.DiscoverSettings{
			View:          &plogp.View{Distance: distance, Bytes: 1 << 10},
			Reconstructor: cluster.Flat{Clusterer: cluster.KMedoids{K: 2}},
			Patterns:      -1,
			Sampling:      measure.Sampling{Samples: 5, Repetitions: 1},
		})
		h := d.Network.Hierarchy()
		groups := h.GroupsAt(0)
		if len(groups) != 2 || !slices.Equal(groups[0].Hosts, []int{0, 1}) || !slices.Equal(groups[1].Hosts, []int{2, 3}) {
			t.Fatalf("%v: groups %v, want 0-1 and 2-3", distance, groups)
		}
		if in, out := h.Latency(0, 1), h.Latency(0, 2); math.Abs(in-10e-6) > 0.5e-6 || math.Abs(out-30e-6) > 1.5e-6 {
			t.Errorf("%v: latencies %g and %g s, want 10 and 30 us", distance, in, out)
		}
		if got := d.Network.Time(0, 2, 8); math.Abs(got-30e-6) > 1.5e-6 || len(d.Parameters.Pairs) != 4*3 {
			t.Errorf("%v: Time = %g s of %d pairs, want 30 us of 12", distance, got, len(d.Parameters.Pairs))
		}
	}
}
