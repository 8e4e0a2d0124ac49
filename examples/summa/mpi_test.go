package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// Rank 0 compares the results of both problems with gonum's. The native broadcast is in the same table.
func TestMPIResultsAreGonums(t *testing.T) {
	world := mpitest.MPIWorld(t)
	for _, trsm := range []bool{false, true} {
		var out strings.Builder
		if err := work(world, small(0, 0, trsm, &out)); err != nil {
			t.Fatal(err)
		}
		if world.Rank() == 0 && strings.Count(out.String(), " native ") != 2 {
			t.Fatalf("not two lines of the native broadcast in\n%s", out.String())
		}
	}
}
