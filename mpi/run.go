package mpi

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
)

// A Comm has every ability that this package names.
var _ interface {
	Communicator
	SyncSender
	NonBlocking
	Clock
	Placed
	Versioned
	Timed
	Scheduler
	NativeBcast
	Collectives
	Splitter
	Failer
	io.Closer
} = (*Comm)(nil)

// Run is a main function's way into MPI, and collective. It starts MPI, or attaches to one that runs, calls
// work with a communicator of all ranks, and ends MPI. Call it from the main goroutine.
//
// If work returns an error, panics or calls runtime.Goexit on any rank, Run prints the cause on standard error. It
// aborts the whole job then, because other ranks may wait for this one. The exit status is 1 for an error and 2 for a
// panic. Otherwise Run returns nil, or the error of starting or ending MPI (ErrNoLauncher, say).
//
// A rank whose work returns nil waits for all others. Whoever still expects a message of it then waits for ever, as in
// MPI: no rank knows that.
//
// What a program writes after Run is kept. MPI_Finalize has a limit of two minutes (see Comm.Close).
//
// A rank that is bound to one core runs Go code on one thread (GOMAXPROCS 1). Go's monitor then takes this
// thread's place from a call of C that waits for 20 us, at each message. Run sets GOMAXPROCS to 2 there,
// unless the environment sets GOMAXPROCS. World leaves GOMAXPROCS alone.
func Run(work func(Communicator) error) error {
	world, err := World()
	if err != nil {
		return err
	}
	spareProcessor()
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

// spareProcessor gives Go a second P if it has one only. With one P, Go's monitor retakes the P of a call
// after 20 us, starts a thread that polls the network, and falls asleep; the end of the call wakes it. All of
// that happens on the rank's own core, at each message. With a P to spare the monitor leaves calls of up to
// 10 ms alone (Go 1.26, retake and sysmon in runtime/proc.go).
func spareProcessor() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2)
	}
}

// Fail prints the error on standard error and aborts the job with exit status 1. It does not return.
func (c *Comm) Fail(err error) {
	fmt.Fprintf(os.Stderr, "rank %d: %v\n", c.rank, err)
	c.Abort(1)
}

// report tells why work did not return: by the value of a panic, or nil for runtime.Goexit.
func report(w io.Writer, rank int, panicked any, stack []byte) {
	if panicked == nil {
		fmt.Fprintf(w, "rank %d: the goroutine of mpi.Run was ended by runtime.Goexit\n\n%s", rank, stack)
		return
	}
	fmt.Fprintf(w, "rank %d: panic: %v\n\n%s", rank, panicked, stack)
}
