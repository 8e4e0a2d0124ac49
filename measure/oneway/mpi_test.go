package oneway_test

import (
	"context"
	"slices"
	"testing"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// TestMPIOneWay: the ranks share the wall clock of a machine, so that no message arrives before it was sent,
// and what both directions take is the round trip of measure.Run. The scheduler has its part in both.
func TestMPIOneWay(t *testing.T) {
	c := mpitest.MPIWorld(t)
	s := oneway.Settings{Samples: 50, Repetitions: 5}
	if c.Size() > 2 { // many ranks on few cores
		s = oneway.Settings{Samples: 5, Repetitions: 3}
	}
	trips, err := measure.Run(context.Background(), c, &measure.Settings{Sampling: measure.Sampling{Samples: s.Samples}})
	if err != nil {
		t.Fatal(err)
	}
	for _, oneClock := range []bool{true, false} {
		s.OneClock = oneClock
		r, err := oneway.Measure(context.Background(), c, &s)
		if err != nil {
			t.Fatal(err)
		}
		if (r != nil) != (c.Rank() == 0) {
			t.Fatalf("rank %d: result %v, want one on rank 0 only", c.Rank(), r)
		}
		if r == nil {
			continue
		}
		n := c.Size()
		rows, want := r.Section(), s.Repetitions*n*(n-1)/2
		if r.Stopped != "" || rows.NumRows() != want {
			t.Errorf("%d rows, stopped %q, want %d", rows.NumRows(), r.Stopped, want)
		}
		if r.OneClock != oneClock {
			t.Errorf("one clock %v, want %v: %q", r.OneClock, oneClock, r.Warnings)
		}
		there, back := rows.Column("there_s"), rows.Column("back_s")
		halves := make([]float64, rows.NumRows())
		for i := range halves {
			halves[i] = (rows.Row(i)[there] + rows.Row(i)[back]) / 2
		}
		var halved []float64
		for _, x := range trips.Measurements() {
			halved = append(halved, x.Q1)
		}
		got, half := slices.Min(halves), slices.Min(halved)
		t.Logf("%d ranks, one clock %v: shortest half round trip %g s, of measure.Run %g s, least %g, %q", n, oneClock, got, half, r.Least, r.Warnings)
		const calls = 2e-6 // s, of Go and of the clock, at most
		if n == 2 && (got < half/3 || got > 3*half+calls) {
			t.Errorf("shortest half round trip %g s, of measure.Run %g s", got, half)
		}
	}
}
