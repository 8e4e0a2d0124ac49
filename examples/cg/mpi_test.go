package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// Each run compares its result with the known solution.
func TestMPIPlateIsSolved(t *testing.T) {
	world := mpitest.MPIWorld(t)
	var out strings.Builder
	if err := work(world, small(0, 0, &out)); err != nil {
		t.Fatal(err)
	}
	if world.Rank() == 0 && strings.Count(out.String(), " native ") != 2 {
		t.Fatalf("want two lines of the native Allreduce, have\n%s", out.String())
	}
}
