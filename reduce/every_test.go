package reduce_test

import (
	"testing"

	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
	"github.com/topocast/topocast/reduce"
)

// everyAlgorithm performs all algorithms on short and long vectors, whole and in segments.
func everyAlgorithm(t *testing.T, c mpi.Communicator) error {
	r, err := reduce.New(c, &reduce.Settings{Network: casttest.NetworkOf(t, casttest.RegularTree(t, c.Size(), 2))})
	if err != nil {
		return err
	}
	long := 2500
	if tooltest.Long() {
		long = 20000
	}
	for _, x := range []struct{ length, segment int }{{1, 0}, {3, 8}, {1000, 400}, {long, 0}, {long, long * 3 / 2}} {
		if err := reduce.EveryAlgorithm(r, x.length, x.segment); err != nil {
			return err
		}
	}
	return nil
}

func TestEveryAlgorithm(t *testing.T) {
	for _, ranks := range []int{2, 7} {
		onRanks(t, ranks, func(c mpi.Communicator) error { return everyAlgorithm(t, c) })
	}
}

func TestMPIEveryAlgorithm(t *testing.T) {
	if err := everyAlgorithm(t, mpitest.MPIWorld(t)); err != nil {
		t.Fatal(err)
	}
}
