package mpi

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// A Comm has every ability that this package names, in both builds, and so has one with a limit.
var _ = []interface {
	Communicator
	SyncSender
	NonBlocking
	Clock
	Named
	Bound
	Versioned
	Timed
	CallCoster
	Scheduler
	NativeBcast
	Splitter
	Aborter
	Failer
	Collectives
	io.Closer
}{(*Comm)(nil), (*Limited)(nil)}

// Run is a main function's way into MPI, and collective: it starts MPI (or
// attaches to one that runs), calls work with a communicator of all ranks, and
// ends MPI. Call it from the main goroutine.
//
// If work returns an error, panics or calls runtime.Goexit on any rank, the
// cause is printed on standard error and the whole job is aborted, with exit
// status 1 for an error and 2 for a panic: the other ranks may wait for this
// one. MPI_Finalize, which would wait too, is called on success only. So Run
// returns nil, or the error of starting or ending MPI (ErrNoLauncher, say).
//
// What is to outlive the job has to be saved inside work: if MPI_Finalize has not
// returned two minutes after all ranks have done their work, Run ends the job with
// status 0 and a line on standard error (see Comm.LimitFinalize).
func Run(work func(Communicator) error) error {
	world, err := World()
	if err != nil {
		return err
	}
	world.LimitFinalize(finalizeLimit)
	returned := false
	defer func() {
		if !returned {
			report(os.Stderr, world.Rank(), recover(), debug.Stack())
			world.Abort(2)
		}
	}()
	err = work(world)
	returned = true
	if err != nil {
		world.Fail(err)
	}
	return world.Close()
}

// Fail prints the error on standard error and aborts the job with exit status 1, as Run does
// with that of its work. It does not return.
func (c *Comm) Fail(err error) { fail(os.Stderr, c, err) }

func fail(w io.Writer, c interface {
	Communicator
	Aborter
}, err error,
) {
	fmt.Fprintf(w, "rank %d: %v\n", c.Rank(), err)
	c.Abort(1)
}

// finalizeLimit is what Run gives MPI_Finalize: far more than it takes.
const finalizeLimit = 2 * time.Minute

// report tells why work did not return: by the value of a panic, or nil for
// runtime.Goexit.
func report(w io.Writer, rank int, panicked any, stack []byte) {
	if panicked == nil {
		fmt.Fprintf(w, "rank %d: the goroutine of mpi.Run was ended by runtime.Goexit\n\n%s", rank, stack)
		return
	}
	fmt.Fprintf(w, "rank %d: panic: %v\n\n%s", rank, panicked, stack)
}
