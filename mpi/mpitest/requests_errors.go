package mpitest

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// requestsWrong checks that a refused transfer does not enter the set.
func requestsWrong(c mpi.Communicator, set mpi.Requests) {
	buf := make([]byte, 4)
	for _, peer := range []int{c.Rank(), -1, c.Size()} {
		wantError(c, fmt.Sprintf("Isend to rank %d", peer), set.Isend(buf, peer, 0), mpi.ErrRank)
		wantError(c, fmt.Sprintf("Irecv from rank %d", peer), set.Irecv(buf, peer, 0), mpi.ErrRank)
	}
	if c.Size() > 1 {
		peer := (c.Rank() + 1) % c.Size()
		for _, tag := range []int{-1, mpi.MaxTag + 1} {
			wantError(c, fmt.Sprintf("Isend with tag %d", tag), set.Isend(buf, peer, tag), mpi.ErrTag)
			wantError(c, fmt.Sprintf("Irecv with tag %d", tag), set.Irecv(buf, peer, tag), mpi.ErrTag)
		}
	}
	check(set.WaitAll(), "WaitAll after refused transfers")
}

// requestsMismatch finds the wrong length at the end of a set. The transfers beside it are completed nevertheless.
func requestsMismatch(end func(mpi.Requests) error, sent, expected int, want error) func(mpi.Communicator, mpi.Requests) {
	return func(c mpi.Communicator, set mpi.Requests) {
		switch {
		case c.Size() < 2:
		case c.Rank() == 0:
			check(send(c, sent, 1, 1, 4))
			check(send(c, 8, 2, 1, 5))
		case c.Rank() == 1:
			buf, good := guarded(expected), make([]byte, 8)
			check(set.Irecv(buf[:expected:expected], 0, 4))
			check(set.Irecv(good, 0, 5))
			wantError(c, fmt.Sprintf("waiting for %d bytes in a buffer of %d", sent, expected), end(set), want)
			untouched(buf[expected:])
			check(verify(good, 2))
			wantTest(set, true, "after the error")
		}
	}
}

// requestsFirstError has two transfers of wrong length in a set; the one that
// was started last is sent first. WaitAll tells of the one started first.
func requestsFirstError(c mpi.Communicator, set mpi.Requests) {
	switch {
	case c.Size() < 2:
	case c.Rank() == 0:
		check(send(c, 8, 1, 1, 5))
		check(send(c, 16, 2, 1, 4))
	case c.Rank() == 1:
		check(set.Irecv(make([]byte, 8), 0, 4))
		check(set.Irecv(make([]byte, 16), 0, 5))
		err := set.WaitAll()
		wantError(c, "WaitAll with two wrong lengths", err, mpi.ErrTruncated)
		var e *mpi.Error
		if errors.As(err, &e) && (e.Peer != 0 || e.Tag != 4) {
			fail("WaitAll tells of peer %d and tag %d, want 0 and 4: %w", e.Peer, e.Tag, err)
		}
	}
}
