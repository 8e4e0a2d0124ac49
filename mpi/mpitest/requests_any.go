package mpitest

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// requestsAny lets the second of two messages come first: the first leaves only
// when the second is known to be there.
func requestsAny(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil {
		return nil
	}
	if err := wantAny(set, -1); err != nil {
		return fmt.Errorf("of an empty set: %w", err)
	}
	for _, size := range []int{0, 100, 300_000} {
		err := eachPair(c, func(peer int, low bool) error {
			if !low {
				if err := send(c, size, 2, peer, 2); err != nil {
					return err
				}
				if err := recv(c, 0, 0, peer, 3); err != nil {
					return err
				}
				return send(c, size, 1, peer, 1)
			}
			first, second := make([]byte, size), make([]byte, size)
			if err := set.Irecv(first, peer, 1); err != nil {
				return err
			}
			if err := set.Irecv(second, peer, 2); err != nil {
				return err
			}
			if err := wantAny(set, 1); err != nil {
				return err
			}
			if err := verify(second, 2); err != nil {
				return err
			}
			if err := send(c, 0, 0, peer, 3); err != nil {
				return err
			}
			if err := wantAny(set, 0, -1, -1); err != nil {
				return err
			}
			if err := set.WaitAll(); err != nil {
				return err
			}
			return verify(first, 1)
		})
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return requestsAnySome(c, set)
}

// requestsAnySome waits for one of many transfers, sends among them, and leaves
// the others to WaitAll; then again for all of them.
func requestsAnySome(c mpi.Communicator, set mpi.Requests) error {
	const size = 100_000
	for _, waits := range []int{1, 2 * (c.Size() - 1)} {
		var in, out [][]byte
		for peer := range c.Size() {
			if peer == c.Rank() {
				continue
			}
			in, out = append(in, make([]byte, size)), append(out, make([]byte, size))
			fill(out[len(out)-1], c.Rank()+peer)
			if err := set.Irecv(in[len(in)-1], peer, 5); err != nil {
				return err
			}
			if err := set.Isend(out[len(out)-1], peer, 5); err != nil {
				return err
			}
		}
		told := make([]bool, 2*len(in))
		for range min(waits, len(told)) {
			i, err := set.WaitAny()
			if err != nil {
				return err
			}
			if i < 0 || i >= len(told) || told[i] {
				return fmt.Errorf("WaitAny = %d of %d transfers, of which it has told %v", i, len(told), told)
			}
			told[i] = true
		}
		if err := set.WaitAll(); err != nil {
			return err
		}
		for peer := range c.Size() {
			if peer == c.Rank() {
				continue
			}
			if err := verify(in[0], c.Rank()+peer); err != nil {
				return fmt.Errorf("%d waits, message from rank %d: %w", waits, peer, err)
			}
			in = in[1:]
		}
	}
	return wantAny(set, -1)
}

// wantAny holds calls of WaitAny to what they have to return.
func wantAny(set mpi.Requests, want ...int) error {
	for _, w := range want {
		i, err := set.WaitAny()
		if err != nil {
			return err
		}
		if i != w {
			return fmt.Errorf("WaitAny = %d, want %d", i, w)
		}
	}
	return nil
}
