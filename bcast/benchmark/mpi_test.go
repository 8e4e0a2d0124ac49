package benchmark

import (
	"slices"
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
	text, err := compareVariants(c, network.Hierarchy(), bcast.Settings{Network: network, Budget: time.Millisecond}, "ours", "native")
	if err != nil {
		t.Fatal(err)
	}
	// All ranks have the report of rank 0, to the byte.
	other := []byte(text)
	if err := c.Bcast(other, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(other, []byte(text)) {
		t.Errorf("rank %d reports %s, rank 0 %s", c.Rank(), text, other)
	}
}
