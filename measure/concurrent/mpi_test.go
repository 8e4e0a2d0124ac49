package concurrent

import (
	"context"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// Patterns of one transfer, of a ring in both directions with messages of
// several protocols of the library, and of all into one rank.
func TestMPIConcurrent(t *testing.T) {
	c := mpitest.MPIWorld(t)
	n := c.Size()
	var patterns [][]model.Transfer
	if n > 1 {
		var ring, one []model.Transfer
		for rank := range n {
			next := (rank + 1) % n
			ring = append(ring, model.Transfer{Src: rank, Dst: next, Bytes: 300_000}, model.Transfer{Src: next, Dst: rank, Bytes: 1000})
			if rank > 0 {
				one = append(one, model.Transfer{Src: rank, Dst: 0, Bytes: 200_000}, model.Transfer{Src: rank, Dst: 0, Bytes: 1})
			}
		}
		patterns = [][]model.Transfer{{{Src: n - 1, Dst: 0, Bytes: 100_000}}, ring, one}
	}
	r, err := Measure(context.Background(), c, &Settings{Patterns: patterns, MaxIterations: 30})
	if err != nil {
		t.Fatal(err)
	}
	if (r != nil) != (c.Rank() == 0) {
		t.Fatalf("rank %d has the result %v", c.Rank(), r)
	}
	if r == nil {
		return
	}
	if len(r.Patterns) != len(patterns) || r.Stopped != "" {
		t.Errorf("%d patterns, stopped %q, want %d", len(r.Patterns), r.Stopped, len(patterns))
	}
	for i, p := range r.Patterns {
		for k, x := range p.Times {
			// Ranks of one host have one clock in fact, and no message arrives before it
			// is sent by more than the clocks are told apart. Up to half of the iterations start late.
			if !(x.Min > -p.ClockError && x.Min <= x.Median && x.Median <= x.Max && 2*x.Count >= p.Iterations && x.Count <= p.Iterations) {
				t.Errorf("pattern %d, %v: %+v of %d iterations, clocks to %g s", i, p.Transfers[k], x, p.Iterations, p.ClockError)
			}
		}
	}
	if n > 1 && len(r.Observations()) == 0 {
		t.Errorf("no observations of %+v", r.Patterns)
	}
}
