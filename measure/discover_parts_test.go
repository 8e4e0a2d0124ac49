package measure_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// TestDiscoverMeasuresTheLoad: the network knows how far off its predictions are,
// what each direction of an uplink carries, and Servet's ratios.
func TestDiscoverMeasuresTheLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	d := discovered(t, "tree:4x3 latency=10us,2us rate=10Gbps", &simnet.Settings{Noise: simnet.Noise{Sigma: 0.02}}, &measure.DiscoverSettings{
		Sampling: measure.Sampling{Repetitions: 2, Samples: 5},
		Patterns: 12,
		Also:     measure.Degradation,
	})
	if lo, hi := d.Network.Interval(0, 1, 1, 0.9); !(lo > 0.5 && lo < hi && hi < 2) {
		t.Errorf("90 %% interval of a transfer of 1 s is [%g, %g] s", lo, hi)
	}
	// 10 Gbit/s everywhere: each uplink is filled by two pairs.
	for _, a := range d.Network.Graph().Arcs() {
		if math.Abs(a.Bandwidth-1.25e9) > 0.1*1.25e9 || a.Estimated {
			t.Errorf("%d -> %d: %g B/s (estimated: %t), want 1.25e9", a.From, a.To, a.Bandwidth, a.Estimated)
		}
	}
	ratios := d.Network.Settings().Degradation
	if ratios == nil || !(ratios.DistanceRatio(3) > 0.9) {
		t.Errorf("degradation %+v", ratios)
	}
}

// TestDiscoverWithFewPairs: where it is asked for, and where all pairs do not
// fit the budget, a small part of them gives the groups of the cluster.
func TestDiscoverWithFewPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for _, c := range []struct {
		name, spec string
		s          measure.DiscoverSettings
	}{
		{"asked for", "tree:4x16 latency=20us,4us rate=10Gbps", measure.DiscoverSettings{Pairs: measure.FewPairs}},
		// 127 rounds of 13 round trips of 48 us and more in both directions take over 0.15 s.
		{"for want of time", "tree:4x32 latency=20us,4us rate=10Gbps", measure.DiscoverSettings{Control: harness.Control{Budget: 250 * time.Millisecond}}},
	} {
		cluster, err := gen.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		ranks := cluster.Graph.Hosts()
		c.s.Repetitions, c.s.Samples, c.s.Patterns = 1, 5, -1
		d := discovered(t, c.spec, nil, &c.s)
		if got, want := topotest.Groups(d.Topology.Hierarchy), topotest.Groups(cluster.Hierarchy); !slices.Equal(got, want) {
			t.Errorf("%s: groups %v, want %v", c.name, got, want)
		}
		if n := len(d.Latencies.Measurements()); n == 0 || n > ranks*(ranks-1)/4 {
			t.Errorf("%s: %d measurements, want those of less than half of the pairs", c.name, n)
		}
		noted := strings.Contains(strings.Join(d.Latencies.Notes, "\n"), "few of them are measured")
		if noted != (c.s.Budget > 0) {
			t.Errorf("%s: notes %q", c.name, d.Latencies.Notes)
		}
	}
}

// TestFewPairsFindWhatAllPairsTell: the confident groups are the same.
func TestFewPairsFindWhatAllPairsTell(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const spec = "tree:[[5,3,4],[6,7,5,4],[8,3],[6,6,7]] latency=4us,2us,1us shuffle seed=3"
	var groups [2][]string
	for i, pairs := range []measure.Choice{measure.AsNeeded, measure.FewPairs} {
		d := discovered(t, spec, nil, &measure.DiscoverSettings{Pairs: pairs, Patterns: -1, Sampling: measure.Sampling{Repetitions: 1, Samples: 5}})
		groups[i] = topotest.Groups(d.Topology.Hierarchy.Confident(topology.ConfidentFrom))
	}
	if !slices.Equal(groups[0], groups[1]) || len(groups[0]) < 16 {
		t.Errorf("few pairs give %v, all pairs %v", groups[1], groups[0])
	}
}

// TestDiscoverSettingsThatExcludeEachOther are refused.
func TestDiscoverSettingsThatExcludeEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	simulate(t, "star:3", nil, refused(t, measure.DiscoverSettings{Pairs: measure.FewPairs, View: &plogp.View{}}, "View: with some of the pairs"))
}

// refused is a body in which Discover refuses the settings.
func refused(t *testing.T, s measure.DiscoverSettings, want string) func(mpi.Communicator) error {
	return func(c mpi.Communicator) error {
		if _, err := measure.Discover(context.Background(), c, &s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: %v, want %q", c.Rank(), err, want)
		}
		return nil
	}
}
