//go:build linux

package mpi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// endsJob is a job (jobVar) whose ranks end one after the other; exitVar is set for ranks that end by mpi.Exit.
const (
	endsJob = "ends"
	exitVar = "TOPOCAST_TEST_EXIT"
)

// rankOfEnds is a rank that writes a line after Run, later than the ranks before it.
func rankOfEnds() {
	var rank int
	err := mpi.Run(func(c mpi.Communicator) error {
		rank = c.Rank()
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	time.Sleep(time.Duration(rank) * 60 * time.Millisecond)
	fmt.Printf("rank %d has ended MPI\n", rank)
	if os.Getenv(exitVar) != "" {
		mpi.Exit(0)
	}
	os.Exit(0)
}

// TestJobEnds launches 16 jobs of 4 ranks that end at different times, half of them by mpi.Exit. Each has to end with
// status 0, and to write what its ranks write after Run. Without the word to the launcher (pmiSocket), jobs of
// MPICH 4.2.1 and 5.0.2 end with status 9 or lose lines.
func TestJobEnds(t *testing.T) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		t.Skipf("no %s; make test sets it", launcherVar)
	}
	command := append(launcher[:len(launcher):len(launcher)], "-n", "4", os.Args[0])
	for i := range 16 {
		env := []string{exitVar + "=" + strings.Repeat("1", i%2)}
		out, err := launch(t, endsJob, env, command...)
		if lines := strings.Count(out, "has ended MPI\n"); err != nil || lines != 4 {
			t.Errorf("job %d ended with %v and %d lines of 4 ranks; it said:\n%s", i, err, lines, out)
		}
	}
}
