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

// Both problems, checked against gonum on rank 0, with the library's own broadcast in the same table.
func TestMPIResultsAreGonums(t *testing.T) {
	world, err := mpi.World()
	if err != nil {
		t.Fatal(err)
	}
	for _, trsm := range []bool{false, true} {
		var out strings.Builder
		if err := work(world, small(0, 0, trsm, &out)); err != nil {
			t.Fatal(err)
		}
		if world.Rank() == 0 && strings.Count(out.String(), " native ") != 2 {
			t.Fatalf("not two lines of the library's own broadcast in\n%s", out.String())
		}
	}
	if err := world.Close(); err != nil {
		t.Fatal(err)
	}
}
