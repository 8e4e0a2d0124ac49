package mpitest

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// requestsPoll asks a set until it is complete. A message that cannot have been
// sent yet is not there; one that was, comes.
func requestsPoll(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	for range 2 {
		if done, err := set.Test(); !done || err != nil {
			return fmt.Errorf("an empty set: Test = %v, %v, want true", done, err)
		}
	}
	for _, size := range []int{0, 100, 300_000} {
		err := eachPair(c, func(peer int, low bool) error {
			if !low {
				if err := recv(c, 0, 0, peer, 3); err != nil {
					return err
				}
				if err := send(c, size, 1, peer, 1); err != nil {
					return err
				}
				return recv(c, size, 2, peer, 2)
			}
			in, out := make([]byte, size), make([]byte, size)
			fill(out, 2)
			if err := set.Irecv(in, peer, 1); err != nil {
				return err
			}
			for range 3 {
				if done, err := set.Test(); done || err != nil {
					return fmt.Errorf("before the message is sent: Test = %v, %v, want false", done, err)
				}
			}
			if err := send(c, 0, 0, peer, 3); err != nil {
				return err
			}
			if err := set.Isend(out, peer, 2); err != nil {
				return err
			}
			if err := poll(set); err != nil {
				return err
			}
			if done, err := set.Test(); !done || err != nil {
				return fmt.Errorf("a set that is complete: Test = %v, %v, want true", done, err)
			}
			return verify(in, 1)
		})
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

// poll asks until all is complete.
func poll(set mpi.Requests) error {
	for {
		if done, err := set.Test(); done || err != nil {
			return err
		}
	}
}

// requestsPollMismatch finds the wrong length by asking.
func requestsPollMismatch(sent, expected int, want error) func(mpi.Communicator) error {
	return func(c mpi.Communicator) error {
		set := newRequests(c)
		if set == nil || c.Size() < 2 {
			return nil
		}
		switch c.Rank() {
		case 0:
			return send(c, sent, 1, 1, 4)
		case 1:
			if err := set.Irecv(make([]byte, expected), 0, 4); err != nil {
				return err
			}
			if err := wantError(c, fmt.Sprintf("Test with %d bytes for a buffer of %d", sent, expected), poll(set), want); err != nil {
				return err
			}
			if done, err := set.Test(); !done || err != nil {
				return fmt.Errorf("after the error: Test = %v, %v, want true", done, err)
			}
		}
		return nil
	}
}

// requestsBcast has the library's broadcasts under way, two at once, beside a
// message, and ends them by waiting and by asking.
func requestsBcast(c mpi.Communicator) error {
	set := newRequests(c)
	b, ok := set.(mpi.Ibcaster)
	if !ok {
		return nil
	}
	for _, root := range []int{-1, c.Size()} {
		if err := wantError(c, fmt.Sprintf("Ibcast from rank %d", root), b.Ibcast(nil, root), mpi.ErrRank); err != nil {
			return err
		}
	}
	for _, size := range []int{0, 8, 3000, 300_000} {
		for root := range c.Size() {
			other := (root + 1) % c.Size()
			first, second, word := make([]byte, size), make([]byte, 77), make([]byte, 8)
			if c.Rank() == root {
				fill(first, 1)
			}
			if c.Rank() == other {
				fill(second, 2)
			}
			if err := b.Ibcast(first, root); err != nil {
				return err
			}
			if err := b.Ibcast(second, other); err != nil {
				return err
			}
			if root != other {
				var err error
				switch c.Rank() {
				case root:
					fill(word, 3)
					err = set.Isend(word, other, 1)
				case other:
					err = set.Irecv(word, root, 1)
				}
				if err != nil {
					return err
				}
			}
			if root%2 == 0 {
				if err := poll(set); err != nil {
					return err
				}
			} else if err := set.WaitAll(); err != nil {
				return err
			}
			if err := verify(first, 1); err != nil {
				return fmt.Errorf("%d bytes from rank %d: %w", size, root, err)
			}
			if err := verify(second, 2); err != nil {
				return fmt.Errorf("second broadcast, from rank %d: %w", other, err)
			}
			if c.Rank() == other && root != other {
				if err := verify(word, 3); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
