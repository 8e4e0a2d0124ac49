package plogp_test

import (
	"context"
	"testing"

	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// TestMPIPLogP: both directions of all pairs, over the sizes at which libraries
// take another protocol, with synchronous sends.
func TestMPIPLogP(t *testing.T) {
	c := mpitest.MPIWorld(t)
	n := c.Size()
	s := &plogp.Settings{Longest: 1 << 17, Samples: 5, Fast: true, ExtraSizes: 1}
	if n == 2 { // rows of one message after the other, and of some together
		s.Fast, s.LongestRow = false, 100
	}
	if n > 4 { // a few pairs of many ranks on few cores
		s.Share = 3 / float64(n)
	}
	r, err := plogp.Measure(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	if (r != nil) != (c.Rank() == 0) {
		t.Fatalf("rank %d: result %v, want one on rank 0 only", c.Rank(), r)
	}
	if r == nil {
		return
	}
	pairs := min(n, 3) * (min(n, 3) - 1)
	if n == 4 {
		pairs = 4 * 3
	}
	if len(r.Pairs) != pairs || r.Stopped != "" {
		t.Errorf("%d pairs, stopped %q, want %d", len(r.Pairs), r.Stopped, pairs)
	}
	for _, p := range r.Pairs {
		for i, m := range p.Sizes { // how long they take is the scheduler's affair
			if !(p.RoundTrip[i] > 0 && p.Gap[i] >= 0 && p.Send[i] >= 0 && p.Recv[i] >= 0) {
				t.Errorf("%d -> %d: %d B: %+v", p.Src, p.Dst, m, p)
			}
		}
	}
}
