package local

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/topocast/topocast/mpi"
)

// Settings of a world. Nil and the zero value mean all defaults.
type Settings struct {
	Mode Mode // default Buffered

	// Cores are the logical CPUs that Pinned binds to, rank i to Cores[i].
	// Default: the CPUs that the process may use, ascending (Cores()). No rank
	// is bound if there are more ranks than Cores, or than GOMAXPROCS.
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
// since the start of Run, the same clock on all ranks), Placed,
// Splitter, NativeBcast, Failer and io.Closer, and mpi.Timed in mode Pinned.
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

// runRank runs body on one rank. The world goes on only if body returns nil:
// an error, a panic and runtime.Goexit (t.FailNow) end it.
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
