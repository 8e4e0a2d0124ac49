package mpitest

import "github.com/topocast/topocast/mpi"

// requestsAny lets the second of two messages come first: the first leaves only
// when the second is known to be there.
func requestsAny(c mpi.Communicator, set mpi.Requests) {
	wantAny(set, -1)
	for _, size := range []int{0, 100, 300_000} {
		eachPair(c, func(peer int, low bool) {
			defer during("%d bytes", size)
			if !low {
				check(send(c, size, 2, peer, 2))
				check(recv(c, 0, 0, peer, 3))
				check(send(c, size, 1, peer, 1))
				return
			}
			first, second := make([]byte, size), make([]byte, size)
			check(set.Irecv(first, peer, 1))
			check(set.Irecv(second, peer, 2))
			wantAny(set, 1)
			check(verify(second, 2))
			check(send(c, 0, 0, peer, 3))
			wantAny(set, 0, -1, -1)
			check(set.WaitAll())
			check(verify(first, 1))
		})
	}
	requestsAnySome(c, set)
}

// requestsAnySome waits for one of many transfers, sends among them, and leaves
// the others to WaitAll; then again for all of them.
func requestsAnySome(c mpi.Communicator, set mpi.Requests) {
	const size = 100_000
	for _, waits := range []int{1, 2 * (c.Size() - 1)} {
		var in, out [][]byte
		for peer := range others(c) {
			in, out = append(in, make([]byte, size)), append(out, make([]byte, size))
			fill(out[len(out)-1], c.Rank()+peer)
			check(set.Irecv(in[len(in)-1], peer, 5))
			check(set.Isend(out[len(out)-1], peer, 5))
		}
		told := make([]bool, 2*len(in))
		for range min(waits, len(told)) {
			i := got(set.WaitAny())
			if i < 0 || i >= len(told) || told[i] {
				fail("WaitAny = %d of %d transfers, of which it has told %v", i, len(told), told)
			}
			told[i] = true
		}
		check(set.WaitAll())
		for peer := range others(c) {
			check(verify(in[0], c.Rank()+peer), "%d waits, message from rank %d", waits, peer)
			in = in[1:]
		}
	}
	wantAny(set, -1)
}

// wantAny holds calls of WaitAny to what they have to return.
func wantAny(set mpi.Requests, want ...int) {
	for _, w := range want {
		if i := got(set.WaitAny()); i != w {
			fail("WaitAny = %d, want %d", i, w)
		}
	}
}
