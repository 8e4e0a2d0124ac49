package simnet_test

import (
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestClocksDiffer: by machine, within the bounds of the settings, in the same way in every run of a seed, and
// without a change of what messages take.
func TestClocksDiffer(t *testing.T) {
	c, err := simnet.ParseCluster("core:2 host:3 latency=1us,1us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	const later = 100.0 // s
	run := func(seed uint64, clocks simnet.Clocks) (early, late, trip []float64) {
		n := c.Graph.Hosts()
		early, late, trip = make([]float64, n), make([]float64, n), make([]float64, n)
		s := c.Settings()
		s.Seed, s.Clocks, s.ClockCost = seed, clocks, -1
		err := simnet.Run(c.Graph, nil, s, func(comm mpi.Communicator) error {
			r := comm.Rank()
			early[r] = comm.(mpi.Clock).Now()
			comm.(*simnet.Comm).Sleep(later)
			late[r] = comm.(mpi.Clock).Now()
			return comm.(mpi.Timed).PingPong(trip[r:r+1], r^1, 1, 0, 1, r%2 == 0)
		})
		if err != nil {
			t.Fatal(err)
		}
		return early, late, trip
	}
	clocks := simnet.Clocks{Apart: 5, Drift: 1e-4}
	early, late, trip := run(1, clocks)
	for r := range early {
		fast := (late[r]-early[r])/later - 1
		if math.Abs(early[r]) > clocks.Apart || math.Abs(fast) > clocks.Drift*(1+1e-6) || early[r] == 0 || fast == 0 {
			t.Errorf("rank %d: ahead by %g s, fast by %g, want within %+v", r, early[r], fast, clocks)
		}
		if r%2 == 1 && early[r] != early[r-1] || r > 1 && early[r] == early[r-2] {
			t.Errorf("rank %d: clock %g, want that of its machine: %v", r, early[r], early)
		}
	}
	if again, _, _ := run(1, clocks); !slices.Equal(again, early) {
		t.Errorf("clocks %v, and %v with the same seed", early, again)
	}
	if others, _, _ := run(2, clocks); slices.Equal(others, early) {
		t.Errorf("clocks %v with another seed, too", others)
	}
	if same, _, trips := run(1, simnet.Clocks{}); slices.Max(same) != 0 || !slices.Equal(trips, trip) {
		t.Errorf("without Clocks: %v s, round trips %v, want 0 s and %v", same, trips, trip)
	}
}
