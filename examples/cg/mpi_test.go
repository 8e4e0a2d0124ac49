package main

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// The result is held to the known solution.
func TestMPIPlateIsSolved(t *testing.T) {
	world := mpitest.MPIWorld(t)
	var out strings.Builder
	if err := work(world, small(0, 0, &out)); err != nil {
		t.Fatal(err)
	}
	_, native := any(world).(mpi.NativeReduce)
	if world.Rank() == 0 && strings.Contains(out.String(), " native ") != native {
		t.Fatalf("the library's own Allreduce is there: %v, but\n%s", native, out.String())
	}
}
