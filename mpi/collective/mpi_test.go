//go:build mpi && cgo

package collective

import (
	"flag"
	"os"
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

func TestMPICollectives(t *testing.T) {
	world, err := mpi.World()
	if err != nil {
		t.Fatal(err)
	}
	for seed, comm := range []mpi.Communicator{world, plain{world}} {
		if err := exercise(comm, 3, uint64(seed)); err != nil {
			t.Fatal(err)
		}
	}
	if err := misuse(world); err != nil {
		t.Fatal(err)
	}
	if err := world.Close(); err != nil {
		t.Fatal(err)
	}
}
