package benchmark

import (
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

func TestMPIBenchmark(t *testing.T) {
	c := mpitest.MPIWorld(t)
	if c.Size() < 4 {
		t.Skip("fewer than 4 ranks make no groups")
	}
	network := casttest.NetworkOf(t, casttest.RegularTree(t, c.Size(), 2))
	if err := compareVariants(c, network.Hierarchy(), bcast.Settings{Network: network, Budget: time.Millisecond}, "ours", "native"); err != nil {
		t.Fatal(err)
	}
}
