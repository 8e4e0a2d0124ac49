package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A Runner calls work on every rank of a job; ranks = 0 leaves their number to
// the runner. If work returns an InputError, it has to do so on all ranks, at
// the same point.
type Runner func(ranks int, work func(mpi.Communicator) error) error

// A Patience is how long ranks of a launched job wait for those that do not come: to the start of MPI, and to the end of the
// work. Commands have limits of their own for what is between.
type Patience struct{ Start, End time.Duration }

// UsualPatience is far more than jobs take: the largest start in minutes, and rank 0 may work by itself in the end, or write
// to a slow disk.
func UsualPatience() Patience { return Patience{15 * time.Minute, time.Hour} }

// RunJob is the runner for real ranks: it calls work on every rank: on those of the MPI job if a launcher
// started this process, and else on threads of this process, pinned to the
// cores; ranks = 0 means one per core.
func RunJob(ranks int, work func(mpi.Communicator) error) error {
	return UsualPatience().Run(ranks, work)
}

func (p Patience) Run(ranks int, work func(mpi.Communicator) error) error {
	if mpi.Launched() >= 0 {
		if ranks != 0 {
			return BadInput("--ranks %d: the launcher has set the number of ranks", ranks)
		}
		// Nothing is broken and nobody waits: end MPI in order, and let Report
		// print the line once.
		var input *InputError
		begun := p.awaitStart()
		err := mpi.Run(func(comm mpi.Communicator) error {
			begun()
			err := work(comm)
			if err != nil && !errors.As(err, &input) {
				// Mostly all ranks have it. Rank 0 tells it, and the launcher ends the others before they do.
				time.Sleep(time.Duration(min(comm.Rank(), 1)) * betweenRanks)
				return &plainError{err}
			}
			return p.meet(comm)
		})
		begun()
		switch {
		case input != nil:
			return input
		case errors.Is(err, mpi.ErrLauncher):
			return BadInput("%w", err) // of all ranks: one tells it
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
	if ranks < 1 || ranks > mostThreads {
		return BadInput("--ranks %d: want 1 to %d", ranks, mostThreads)
	}
	var input *InputError
	err := local.Run(ranks, &local.Settings{Mode: local.Pinned}, work)
	if errors.As(err, &input) {
		return input // without the rank: all found it
	}
	return err
}

// mostThreads is how many ranks a process has at most: each may send to each, and of more the queues alone take gigabytes.
const mostThreads = 10_000

// awaitStart ends this process, and so the job, unless the function that it returns is called in time. Nothing of MPI may
// be called there.
func (p Patience) awaitStart() (begun func()) {
	rank := mpi.Launched()
	// One after the other, so that one of them says so.
	limit := p.Start + time.Duration(min(rank, 3))*betweenRanks
	timer := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "topocast: rank %d: MPI has not started within %v: some rank of the job does not come\n", rank, limit)
		os.Exit(StatusFailed)
	})
	return func() { timer.Stop() }
}

// betweenRanks is what launchers take to end a job.
const betweenRanks = 2 * time.Second

// meet is collective: it waits for all ranks to have done their work.
func (p Patience) meet(comm mpi.Communicator) error {
	defer LimitCalls(comm, p.End)()
	if b, ok := comm.(mpi.Collectives); ok {
		return b.Barrier()
	}
	return nil
}

// LimitCalls lets calls of a real communicator end the job when they last longer than the limit. It ends when stop is called.
func LimitCalls(comm mpi.Communicator, limit time.Duration) (stop func()) {
	if c, ok := comm.(interface {
		LimitCalls(limit time.Duration) (stop func())
	}); ok {
		return c.LimitCalls(limit)
	}
	return func() {}
}
