//go:build linux

package mpi_test

import (
	"os"
	"testing"

	"github.com/topocast/topocast/mpi/mpitest"
)

// The test binary has several lives: it launches jobs (TestJob... and benchmarks), it is a rank of such a job, or it
// is a rank that runs the tests.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(launcherVar) != "":
		os.Exit(m.Run())
	case os.Getenv(jobVar) == pingPongJob:
		rankOfPingPong(os.Args[1:])
	case os.Getenv(jobVar) == callsJob:
		rankOfCalls()
	case os.Getenv(jobVar) == startJob:
		rankOfStart()
	case os.Getenv(jobVar) == oversubscribedJob:
		rankOfOversubscribed()
	case os.Getenv(jobVar) == besideJob:
		rankOfBeside()
	case os.Getenv(jobVar) == endsJob:
		rankOfEnds()
	case os.Getenv(jobVar) == limitJob:
		rankOfLimit()
	case os.Getenv(jobVar) == endJob:
		rankOfEnd()
	case os.Getenv(jobVar) != "":
		rankOfJob(os.Getenv(jobVar))
	default:
		mpitest.Main(m)
	}
}
