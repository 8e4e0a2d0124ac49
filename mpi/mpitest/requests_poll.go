package mpitest

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// requestsPoll asks a set until it is complete. A message that cannot have been
// sent yet is not there; one that was, comes.
func requestsPoll(c mpi.Communicator, set mpi.Requests) {
	for range 2 {
		wantTest(set, true, "an empty set")
	}
	for _, size := range []int{0, 100, 300_000} {
		eachPair(c, func(peer int, low bool) {
			defer during("%d bytes", size)
			if !low {
				check(recv(c, 0, 0, peer, 3))
				check(send(c, size, 1, peer, 1))
				check(recv(c, size, 2, peer, 2))
				return
			}
			in, out := make([]byte, size), filled(size, 2)
			check(set.Irecv(in, peer, 1))
			for range 3 {
				wantTest(set, false, "before the message is sent")
			}
			check(send(c, 0, 0, peer, 3))
			check(set.Isend(out, peer, 2))
			check(poll(set))
			wantTest(set, true, "a set that is complete")
			check(verify(in, 1))
		})
	}
}

// poll asks until all is complete.
func poll(set mpi.Requests) error {
	for {
		if done, err := set.Test(); done || err != nil {
			return err
		}
	}
}

// wantTest holds a call of Test to what it has to return.
func wantTest(set mpi.Requests, want bool, when string) {
	if done, err := set.Test(); done != want || err != nil {
		fail("%s: Test = %v, %v, want %v", when, done, err, want)
	}
}

// requestsBcast has the library's broadcasts under way, two at once, beside a
// message, and ends them by waiting and by asking.
func requestsBcast(c mpi.Communicator, set mpi.Requests) {
	b, ok := set.(mpi.Ibcaster)
	if !ok {
		return
	}
	for _, root := range []int{-1, c.Size()} {
		wantError(c, fmt.Sprintf("Ibcast from rank %d", root), b.Ibcast(nil, root), mpi.ErrRank)
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
			check(b.Ibcast(first, root))
			check(b.Ibcast(second, other))
			switch {
			case root == other:
			case c.Rank() == root:
				fill(word, 3)
				check(set.Isend(word, other, 1))
			case c.Rank() == other:
				check(set.Irecv(word, root, 1))
			}
			end := mpi.Requests.WaitAll
			if root%2 == 0 {
				end = poll
			}
			check(end(set))
			check(verify(first, 1), "%d bytes from rank %d", size, root)
			check(verify(second, 2), "second broadcast, from rank %d", other)
			if c.Rank() == other && root != other {
				check(verify(word, 3))
			}
		}
	}
}
