package mpi

import (
	"errors"
	"fmt"
)

// The classes of errors that communicators return, to be tested for with
// errors.Is. A communicator that returns one of them is unusable afterwards,
// but for ErrRank, ErrTag and ErrCount, which are found before anything is sent.
var (
	ErrRank       = errors.New("invalid rank")                               // peer or root outside [0, Size()), or the rank itself
	ErrTag        = errors.New("invalid tag")                                // tag outside [0, MaxTag]
	ErrCount      = errors.New("message too long")                           // more than 2^31-1 bytes in one message
	ErrTruncated  = errors.New("message longer than the buffer")             // found by Recv and WaitAll
	ErrLength     = errors.New("message shorter than the buffer")            // found by Recv and WaitAll
	ErrClosed     = errors.New("communicator is closed")                     // any use after Close
	ErrAborted    = errors.New("another rank failed")                        // by in-process worlds, where the job goes on living
	ErrOther      = errors.New("error of the MPI library")                   // any other class
	ErrLauncher   = errors.New("the launcher has started several processes") // by World, where they cannot become one job; all of them get it
	ErrNoLauncher = errors.New("no MPI: start the program with mpirun")      // by World, where MPI would have one rank; programs may go on with ranks of package local
)

// An Error says which operation failed on which rank, and why.
type Error struct {
	Op   string // name of the operation: Send, Recv, Bcast, ...
	Rank int    // calling rank; -1 if not known
	Peer int    // the other rank, or the root; -1 if there is none
	Tag  int    // -1 if there is none
	Err  error  // a sentinel of this package, or an error that wraps one
}

func (e *Error) Error() string {
	s := "mpi: " + e.Op
	if e.Rank >= 0 {
		s += fmt.Sprintf(" on rank %d", e.Rank)
	}
	if e.Peer >= 0 {
		s += fmt.Sprintf(", peer %d", e.Peer)
	}
	if e.Tag >= 0 {
		s += fmt.Sprintf(", tag %d", e.Tag)
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }
