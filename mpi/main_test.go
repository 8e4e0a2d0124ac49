//go:build linux

package mpi_test

import (
	"os"
	"testing"

	"github.com/topocast/topocast/mpi/mpitest"
)

// The test binary has several lives: it launches jobs (job_test.go,
// faults_test.go, oversubscribed_test.go, pingpong_test.go, calls_test.go), it is a rank of such a job, or it is a rank that runs the
// tests.
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
	case os.Getenv(jobVar) == endJob:
		rankOfEnd()
	case os.Getenv(jobVar) != "":
		rankOfJob(os.Getenv(jobVar))
	default:
		mpitest.Main(m)
	}
}
