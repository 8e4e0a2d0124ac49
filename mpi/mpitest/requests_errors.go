package mpitest

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// requestsWrong checks that a refused transfer does not enter the set.
func requestsWrong(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	buf := make([]byte, 4)
	for _, peer := range []int{c.Rank(), -1, c.Size()} {
		if err := wantError(c, fmt.Sprintf("Isend to rank %d", peer), set.Isend(buf, peer, 0), mpi.ErrRank); err != nil {
			return err
		}
		if err := wantError(c, fmt.Sprintf("Irecv from rank %d", peer), set.Irecv(buf, peer, 0), mpi.ErrRank); err != nil {
			return err
		}
	}
	if c.Size() > 1 {
		peer := (c.Rank() + 1) % c.Size()
		for _, tag := range []int{-1, mpi.MaxTag + 1} {
			if err := wantError(c, fmt.Sprintf("Isend with tag %d", tag), set.Isend(buf, peer, tag), mpi.ErrTag); err != nil {
				return err
			}
			if err := wantError(c, fmt.Sprintf("Irecv with tag %d", tag), set.Irecv(buf, peer, tag), mpi.ErrTag); err != nil {
				return err
			}
		}
	}
	if err := set.WaitAll(); err != nil {
		return fmt.Errorf("WaitAll after refused transfers: %w", err)
	}
	return nil
}

// requestsMismatch finds the wrong length in WaitAll; the transfers beside it
// in the set are completed nevertheless.
func requestsMismatch(sent, expected int, want error) func(mpi.Communicator) error {
	return func(c mpi.Communicator) error {
		set := newRequests(c)
		if set == nil || c.Size() < 2 {
			return nil
		}
		switch c.Rank() {
		case 0:
			if err := send(c, sent, 1, 1, 4); err != nil {
				return err
			}
			return send(c, 8, 2, 1, 5)
		case 1:
			buf := make([]byte, expected+64)
			for i := range buf {
				buf[i] = 0xAA
			}
			good := make([]byte, 8)
			if err := set.Irecv(buf[:expected:expected], 0, 4); err != nil {
				return err
			}
			if err := set.Irecv(good, 0, 5); err != nil {
				return err
			}
			err := set.WaitAll()
			if err := wantError(c, fmt.Sprintf("WaitAll with %d bytes for a buffer of %d", sent, expected), err, want); err != nil {
				return err
			}
			if err := untouched(buf[expected:]); err != nil {
				return err
			}
			return verify(good, 2)
		}
		return nil
	}
}

// requestsFirstError has two transfers of wrong length in a set; the one that
// was started last is sent first. WaitAll tells of the one started first.
func requestsFirstError(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil || c.Size() < 2 {
		return nil
	}
	switch c.Rank() {
	case 0:
		if err := send(c, 8, 1, 1, 5); err != nil {
			return err
		}
		return send(c, 16, 2, 1, 4)
	case 1:
		if err := set.Irecv(make([]byte, 8), 0, 4); err != nil {
			return err
		}
		if err := set.Irecv(make([]byte, 16), 0, 5); err != nil {
			return err
		}
		err := set.WaitAll()
		if err := wantError(c, "WaitAll with two wrong lengths", err, mpi.ErrTruncated); err != nil {
			return err
		}
		var e *mpi.Error
		if errors.As(err, &e) && (e.Peer != 0 || e.Tag != 4) {
			return fmt.Errorf("WaitAll tells of peer %d and tag %d, want 0 and 4: %w", e.Peer, e.Tag, err)
		}
	}
	return nil
}
