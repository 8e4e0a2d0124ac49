package adaptive

import (
	"context"
	"testing"

	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// All ranks come to an end together, with a result that holds all that was read.
func TestMPIMeasure(t *testing.T) {
	c := mpitest.MPIWorld(t)
	r, err := Measure(context.Background(), c, &Settings{Samples: 5})
	if c.Size() < 3 { // a wiring of fewer says nothing
		if err == nil && c.Size() == 1 {
			t.Error("one rank: no error")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if (r != nil) != (c.Rank() == 0) {
		t.Fatalf("rank %d has the result %v", c.Rank(), r)
	}
	if r == nil {
		return
	}
	if r.Topology.Hierarchy.Hosts() != c.Size() || r.pairs() < c.Size()-1 {
		t.Errorf("%d ranks: %d hosts, %d pairs", c.Size(), r.Topology.Hierarchy.Hosts(), r.pairs())
	}
	for _, x := range r.Readings {
		if !(x.Latency > 0) {
			t.Fatalf("measurement %+v", x)
		}
	}
}
