package main

import (
	"errors"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A runner calls work on every rank of a job; ranks = 0 leaves their number to
// the runner. If work returns an inputError, it has to do so on all ranks, at
// the same point.
type runner func(ranks int, work func(mpi.Communicator) error) error

// runJob is the runner for real ranks: it calls work on every rank: on those of the MPI job if a launcher
// started this process, and else on threads of this process, pinned to the
// cores; ranks = 0 means one per core.
func runJob(ranks int, work func(mpi.Communicator) error) error {
	if mpi.Launched() >= 0 {
		if ranks != 0 {
			return badInput("--ranks %d: the launcher has set the number of ranks", ranks)
		}
		// Nothing is broken and nobody waits: end MPI in order, and let report
		// print the line once.
		var input *inputError
		err := mpi.Run(func(comm mpi.Communicator) error {
			err := work(comm)
			if errors.As(err, &input) {
				return nil
			}
			return err
		})
		switch {
		case input != nil:
			return input
		case errors.Is(err, mpi.ErrLauncher):
			return &inputError{err} // of all ranks: one tells it
		}
		return err
	}
	if ranks == 0 {
		cores, err := local.Cores()
		if err != nil {
			return err
		}
		ranks = len(cores)
	}
	if ranks < 1 {
		return badInput("--ranks %d: want at least 1", ranks)
	}
	var input *inputError
	err := local.Run(ranks, &local.Settings{Mode: local.Pinned}, work)
	if errors.As(err, &input) {
		return input // without the rank: all found it
	}
	return err
}
