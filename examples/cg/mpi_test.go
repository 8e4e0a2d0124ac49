//go:build mpi && cgo

package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

// Every rank of a job runs the tests that talk over MPI (TestMPI...) and no others.
func TestMain(m *testing.M) {
	if os.Getenv(mpitest.SizeVar) != "" {
		if err := flag.Set("test.run", "^TestMPI"); err != nil {
			panic(err)
		}
	}
	mpitest.Main(m)
}

// The result is held to the known solution.
func TestMPIPlateIsSolved(t *testing.T) {
	world, err := mpi.World()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := work(world, small(0, 0, &out)); err != nil {
		t.Fatal(err)
	}
	_, native := any(world).(mpi.NativeReduce)
	if world.Rank() == 0 && strings.Contains(out.String(), " native ") != native {
		t.Fatalf("the library's own Allreduce is there: %v, but\n%s", native, out.String())
	}
	if err := world.Close(); err != nil {
		t.Fatal(err)
	}
}
