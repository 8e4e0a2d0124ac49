package local

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/mpi"
)

// endpoint is what the communicators of all modes have in common: one rank's
// view of a group of ranks.
type endpoint struct {
	rank    int
	group   []int // rank in the communicator -> rank in the world
	context int   // tells the messages of communicators apart
	host    string
	isOpen  bool
}

func (e *endpoint) Rank() int { return e.rank }
func (e *endpoint) Size() int { return len(e.group) }

// Close makes the communicator unusable on this rank. It is collective in so
// far as no other rank may go on using it. Closing again does nothing.
func (e *endpoint) Close() error {
	e.isOpen = false
	return nil
}

func (e *endpoint) fail(op string, peer, tag int, err error) error {
	return &mpi.Error{Op: op, Rank: e.rank, Peer: peer, Tag: tag, Err: err}
}

// failure is the cause of a world's end that the rank has asked for by Fail.
func (e *endpoint) failure(err error) error {
	return fmt.Errorf("local: rank %d: %w", e.group[e.rank], err)
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
