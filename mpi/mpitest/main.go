package mpitest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/topocast/topocast/mpi"
)

// SizeVar names the environment variable that tells Main how many ranks the
// launcher was asked for.
const SizeVar = "TOPOCAST_TEST_SIZE"

// Main is the body of TestMain in a package whose tests run on real MPI, with
// every rank a process that runs all tests in the same order:
//
//	func TestMain(m *testing.M) { mpitest.Main(m) }
//
// It starts MPI before the tests, which then call mpi.World for communicators
// of their own, and ends it after them; a failure on one rank aborts the job.
// If the environment says how many ranks there should be (SizeVar), it refuses
// to run with another number: under the launcher of another library every
// process is rank 0 of 1. Without a launcher (mpi.ErrNoLauncher) it just runs the tests.
func Main(m *testing.M) {
	world, err := mpi.World()
	if errors.Is(err, mpi.ErrNoLauncher) {
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if want := os.Getenv(SizeVar); want != "" && want != strconv.Itoa(world.Size()) {
		fmt.Fprintf(os.Stderr, "mpitest: the job has %d ranks, but %s=%s\n", world.Size(), SizeVar, want)
		world.Abort(1)
	}
	if code := m.Run(); code != 0 {
		world.Abort(code)
	}
	if err := world.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// MainMPI is Main for a package of which only some tests talk over MPI: in a job, of which the environment says the
// size, every rank runs those whose names begin with TestMPI and no others, unless -test.run says which.
func MainMPI(m *testing.M) {
	if os.Getenv(SizeVar) != "" {
		if err := flag.Set("test.run", "^TestMPI"); err != nil {
			panic(err)
		}
	}
	Main(m)
}

// MPIWorld is mpi.World, closed at the end of the test. Outside of jobs the test is skipped.
func MPIWorld(t *testing.T) *mpi.Comm {
	t.Helper()
	c, err := mpi.World()
	if errors.Is(err, mpi.ErrNoLauncher) && os.Getenv(SizeVar) == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}
