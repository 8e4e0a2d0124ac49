package mpi

import (
	"fmt"
	"math"
)

// The checks below are made in Go, before MPI sees the call: so a wrong
// argument is the same error with every library, and never aborts the job.

// checkPeer says whether rank may exchange a message of n bytes with peer.
func checkPeer(op string, rank, size, n, peer, tag int) error {
	switch {
	case peer < 0 || peer >= size || peer == rank:
		return &Error{op, rank, peer, tag, fmt.Errorf("%w: %d of %d ranks", ErrRank, peer, size)}
	case tag < 0 || tag > MaxTag:
		return &Error{op, rank, peer, tag, fmt.Errorf("%w: %d is not in [0, %d]", ErrTag, tag, MaxTag)}
	}
	return checkCount(op, rank, n, peer, tag)
}

// checkRoot says whether n bytes may be broadcast from root.
func checkRoot(op string, rank, size, n, root int) error {
	if root < 0 || root >= size {
		return &Error{op, rank, root, -1, fmt.Errorf("%w: root %d of %d ranks", ErrRank, root, size)}
	}
	return checkCount(op, rank, n, root, -1)
}

// checkCount holds n to what fits MPI's int.
func checkCount(op string, rank, n, peer, tag int) error {
	if n < 0 || n > math.MaxInt32 {
		return &Error{op, rank, peer, tag, fmt.Errorf("%w: %d bytes, limit %d", ErrCount, n, math.MaxInt32)}
	}
	return nil
}

// checkLength compares the length of a received message with the length that
// the receiver expects.
func checkLength(op string, rank, got, want, peer, tag int) error {
	switch {
	case got < want:
		return &Error{op, rank, peer, tag, fmt.Errorf("%w: %d bytes, want %d", ErrLength, got, want)}
	case got > want:
		return &Error{op, rank, peer, tag, fmt.Errorf("%w: %d bytes, want %d", ErrTruncated, got, want)}
	}
	return nil
}

// checkSteps finds the first step that is wrong in itself. Every call of Perform begins with it, so steps
// that are right are passed in few instructions.
func checkSteps(op string, rank, size, n int, steps []Step, tag int) (int, error) {
	sound := uint(tag) <= MaxTag
	var underWay, since [StepSets]int
	for i := range steps {
		s := &steps[i]
		if s.Kind > StepWait {
			return i, &Error{op, rank, s.Peer, tag, fmt.Errorf("%v: want a kind of step", s.Kind)}
		}
		if s.Kind >= StepStartSend {
			if uint(s.Set) >= StepSets {
				return i, &Error{op, rank, s.Peer, tag, fmt.Errorf("set %d: want in [0, %d)", s.Set, StepSets)}
			}
			if s.Kind == StepWait {
				underWay[s.Set] = 0
				continue
			}
			if underWay[s.Set]++; underWay[s.Set] > StepSetSize {
				return i, &Error{op, rank, s.Peer, tag, fmt.Errorf("more than %d transfers of set %d are under way: wait for them first", StepSetSize, s.Set)}
			}
			since[s.Set] = i
		}
		if sound && isSound(rank, size, n, s.Peer, s.Offset, s.Length) {
			continue
		}
		if err := checkPart(op, rank, size, n, s.Peer, s.Offset, s.Length, tag); err != nil {
			return i, err
		}
	}
	for set, n := range underWay {
		if n > 0 {
			i := since[set]
			return i, &Error{op, rank, steps[i].Peer, tag, fmt.Errorf("nothing waits for set %d", set)}
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
