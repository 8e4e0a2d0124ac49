package local

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"sync"

	"github.com/topocast/topocast/mpi"
)

// A Mode is a way in which messages travel.
type Mode int

const (
	// Buffered lets Send return at once: the message is copied if nobody
	// receives it yet.
	Buffered Mode = iota
	// Rendezvous lets Send return only when the message has been received. Code
	// that runs here does not depend on buffering.
	Rendezvous
	// Pinned binds each rank's thread to a core and spins, for real
	// core-to-core latencies. Messages of more than 32 bytes, and short ones
	// when 8 of them are waiting, block until received. Linux only.
	Pinned
)

// ErrDeadlock is wrapped by the error of Run when, in the modes Buffered and
// Rendezvous, all ranks that had not returned were waiting for each other, or
// when, in mode Pinned, one was waiting for another that had returned.
var ErrDeadlock = errors.New("deadlock")

// Settings of a world. Nil and the zero value mean all defaults.
type Settings struct {
	Mode Mode // default Buffered

	// Cores are the logical CPUs that Pinned binds to, rank i to Cores[i].
	// Default: the CPUs that the process may use, ascending (Cores()). If they
	// are fewer than the ranks, or GOMAXPROCS is, nothing is bound.
	Cores []int
}

func (s *Settings) validate() error {
	if s.Mode < Buffered || s.Mode > Pinned {
		return fmt.Errorf("local: Settings.Mode: %d: want Buffered, Rendezvous or Pinned", s.Mode)
	}
	for _, c := range s.Cores {
		if c < 0 {
			return fmt.Errorf("local: Settings.Cores: %d: want at least 0", c)
		}
	}
	return nil
}

// A world is the part that differs between the modes.
type world interface {
	// enter is called first on each rank's goroutine.
	enter(rank int) (mpi.Communicator, error)
	// leave is called when the rank has returned without an error.
	leave(rank int)
	// abort ends the world unless it is already ending; cause names its rank.
	abort(cause error)
	// cause is what ended the world, or nil.
	cause() error
}

// Run runs body on n ranks, each on a goroutine of its own, and returns when
// all of them have returned. An error or panic on one rank ends the world:
// operations of all other ranks return mpi.ErrAborted, now and later. Run then
// returns the first cause and names its rank.
//
// The communicators implement mpi.SyncSender, NonBlocking, Clock (seconds
// since the start of Run, the same clock on all ranks), Named, Bound,
// Splitter, NativeBcast and io.Closer, and mpi.Timed in mode Pinned.
func Run(n int, settings *Settings, body func(mpi.Communicator) error) error {
	var s Settings
	if settings != nil {
		s = *settings
	}
	if err := s.validate(); err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("local: run: %d ranks: want at least 1", n)
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	var w world
	if s.Mode == Pinned {
		if w, err = newPinnedWorld(n, host, s.Cores); err != nil {
			return fmt.Errorf("local: pinned mode: %w", err)
		}
	} else {
		w = newLockedWorld(n, host, s.Mode)
	}
	var ranks sync.WaitGroup
	for rank := range n {
		ranks.Go(func() { runRank(w, rank, body) })
	}
	ranks.Wait()
	return w.cause()
}

// runRank runs body on one rank. Whatever ends body but a plain return of nil
// ends the world, runtime.Goexit (t.FailNow) too.
func runRank(w world, rank int, body func(mpi.Communicator) error) {
	var err error
	returned := false
	defer func() {
		p := recover()
		switch {
		case p != nil:
			if cause, ok := p.(error); ok {
				w.abort(fmt.Errorf("local: rank %d: panic: %w\n%s", rank, cause, debug.Stack()))
			} else {
				w.abort(fmt.Errorf("local: rank %d: panic: %v\n%s", rank, p, debug.Stack()))
			}
		case !returned:
			w.abort(fmt.Errorf("local: rank %d: goroutine was ended by runtime.Goexit", rank))
		case err != nil:
			w.abort(fmt.Errorf("local: rank %d: %w", rank, err))
		default:
			w.leave(rank)
		}
	}()
	var c mpi.Communicator
	if c, err = w.enter(rank); err == nil {
		err = body(c)
	}
	returned = true
}

// Cores returns the logical CPUs that the process may use, ascending: those of
// its affinity mask on Linux, and 0..runtime.NumCPU()-1 elsewhere.
func Cores() ([]int, error) {
	cores, err := allowedCores()
	if err != nil {
		return nil, fmt.Errorf("local: cores: %w", err)
	}
	return cores, nil
}

// endpoint is what the communicators of all modes have in common: one rank's
// view of a group of ranks.
type endpoint struct {
	rank    int
	group   []int // rank in the communicator -> rank in the world
	context int   // tells the messages of communicators apart
	host    string
	isOpen  bool
}

func (e *endpoint) Rank() int             { return e.rank }
func (e *endpoint) Size() int             { return len(e.group) }
func (e *endpoint) ProcessorName() string { return e.host }

// Close makes the communicator unusable on this rank. It is collective in so
// far as no other rank may go on using it. Closing again does nothing.
func (e *endpoint) Close() error {
	e.isOpen = false
	return nil
}

func (e *endpoint) fail(op string, peer, tag int, err error) error {
	return &mpi.Error{Op: op, Rank: e.rank, Peer: peer, Tag: tag, Err: err}
}

// check finds what is wrong with the arguments of an operation, on the spot.
func (e *endpoint) check(op string, size, peer, tag int) error {
	switch {
	case !e.isOpen:
		return e.fail(op, peer, tag, mpi.ErrClosed)
	case peer < 0 || peer >= len(e.group) || peer == e.rank:
		return e.fail(op, peer, tag, mpi.ErrRank)
	case tag < 0 || tag > mpi.MaxTag:
		return e.fail(op, peer, tag, mpi.ErrTag)
	}
	return e.checkCount(op, size, peer, tag)
}

// checkCount holds sizes to what MPI takes, whose counts are C ints.
func (e *endpoint) checkCount(op string, size, peer, tag int) error {
	if size < 0 || size > math.MaxInt32 {
		return e.fail(op, peer, tag, fmt.Errorf("%w: %d bytes", mpi.ErrCount, size))
	}
	return nil
}

// checkCollective is check for the operations that all ranks call.
func (e *endpoint) checkCollective(op string, size, root int) error {
	switch {
	case !e.isOpen:
		return e.fail(op, root, -1, mpi.ErrClosed)
	case root < 0 || root >= len(e.group):
		return e.fail(op, root, -1, mpi.ErrRank)
	}
	return e.checkCount(op, size, root, -1)
}

// lengthError compares the length of a message with that of its buffer.
func lengthError(message, buffer int) error {
	switch {
	case message > buffer:
		return fmt.Errorf("%w: %d bytes into %d", mpi.ErrTruncated, message, buffer)
	case message < buffer:
		return fmt.Errorf("%w: %d bytes into %d", mpi.ErrLength, message, buffer)
	}
	return nil
}
