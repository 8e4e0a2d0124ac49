package mpi

import (
	"fmt"
	"math"
)

// checkSteps finds the first step that is wrong in itself. It stands in front of
// every call, so what is right is found in few instructions.
func checkSteps(op string, rank, size, n int, steps []Step, tag int) (int, error) {
	sound := uint(tag) <= MaxTag
	for i := range steps {
		s := &steps[i]
		if sound && isSound(rank, size, n, s.Peer, s.Offset, s.Length) &&
			(s.Kind < StepExchange || s.Kind == StepExchange && isSound(rank, size, n, s.RecvPeer, s.RecvOffset, s.RecvLength)) {
			continue
		}
		if s.Kind > StepExchange {
			return i, &Error{op, rank, s.Peer, tag, fmt.Errorf("%v: want a kind of step", s.Kind)}
		}
		if err := checkPart(op, rank, size, n, s.Peer, s.Offset, s.Length, tag); err != nil {
			return i, err
		}
		if s.Kind == StepExchange {
			if err := checkPart(op, rank, size, n, s.RecvPeer, s.RecvOffset, s.RecvLength, tag); err != nil {
				return i, err
			}
		}
	}
	return 0, nil
}

// isSound tells whether checkPart finds nothing, but for the tag.
func isSound(rank, size, n, peer, offset, length int) bool {
	return uint(peer) < uint(size) && peer != rank &&
		uint(length) <= math.MaxInt32 && length <= n && uint(offset) <= uint(n-length)
}

// checkPart says whether rank may exchange length bytes from offset of a buffer of
// n with peer.
func checkPart(op string, rank, size, n, peer, offset, length, tag int) error {
	if err := checkPeer(op, rank, size, length, peer, tag); err != nil {
		return err
	}
	if offset < 0 || offset > n-length {
		return &Error{op, rank, peer, tag, fmt.Errorf("bytes [%d, %d): want some of [0, %d)", offset, offset+length, n)}
	}
	return nil
}
