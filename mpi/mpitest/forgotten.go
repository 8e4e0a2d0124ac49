package mpitest

import (
	"io"
	"runtime"
	"time"

	"github.com/topocast/topocast/mpi"
)

// The cases below forget to wait for transfers, as callers do that return
// early. The buffers may leak, but the process lives, and nobody else's memory
// is written to.

// collectGarbage collects twice, since finalizers make a second round
// necessary, and returns when the finalizers of what was garbage have run.
func collectGarbage() {
	const tries = 1000 // a stack may hold on to garbage for a while
	for range 2 {
		ran := make(chan struct{})
		runtime.SetFinalizer(&struct{ p *int }{new(int)}, func(any) { close(ran) })
		isOver := false
		for try := 0; !isOver; try++ {
			if try == tries {
				fail("the garbage collector runs no finalizers")
			}
			runtime.GC()
			select {
			case <-ran:
				isOver = true
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}

// litter allocates objects of a size; ruined tells whether somebody else has
// written to one since.
func litter(size int) [][]byte {
	all := make([][]byte, 64)
	for i := range all {
		all[i] = filled(size, i)
	}
	return all
}

func ruined(all [][]byte) {
	for i, buf := range all {
		check(verify(buf, i), "memory of others was overwritten")
	}
}

// forgetReceive starts receives into buffers that nobody keeps, in a set that
// nobody keeps.
func forgetReceive(c mpi.Communicator, size, peer int) {
	set := newRequests(c)
	for tag := range 8 {
		check(set.Irecv(make([]byte, size), peer, tag))
	}
}

// requestsForgotten forgets receives, and gets their messages afterwards.
func requestsForgotten(c mpi.Communicator) {
	if newRequests(c) == nil {
		return
	}
	const size = 4096
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return
	}
	forgetReceive(c, size, peer)
	collectGarbage()
	others := litter(size)
	set := newRequests(c)
	for tag := range 8 {
		check(set.Isend(filled(size, tag+200), peer, tag))
	}
	check(set.WaitAll())
	// A message of another tag comes after them, and lets the library work.
	in, out := make([]byte, 8), make([]byte, 8)
	check(set.Irecv(in, peer, 9))
	check(set.Isend(out, peer, 9))
	check(set.WaitAll())
	collectGarbage()
	ruined(others)
}

// requestsClosed closes a communicator while transfers are under way: receives
// that nobody answers, and short sends that nobody receives.
func requestsClosed(c mpi.Communicator) {
	set := newRequests(c)
	closer, ok := c.(io.Closer)
	if set == nil || !ok || c.Size() < 2 {
		return
	}
	next := (c.Rank() + 1) % c.Size()
	for tag := range 8 {
		check(set.Irecv(make([]byte, 4096), next, tag))
	}
	check(set.Isend(make([]byte, 64), next, 20))
	check(closer.Close(), "closing")
	wantError(c, "WaitAll after Close", set.WaitAll(), mpi.ErrClosed)
	set = nil
	collectGarbage()
}

// requestsAfterErrors goes on with a set after errors that are found at once,
// and drops it, then and after an error of WaitAll.
func requestsAfterErrors(c mpi.Communicator) {
	set := newRequests(c)
	if set == nil || c.Size() < 2 {
		return
	}
	buf := make([]byte, 64)
	wantError(c, "Isend to the rank itself", set.Isend(buf, c.Rank(), 0), mpi.ErrRank)
	if peer := c.Rank() ^ 1; peer < c.Size() {
		in := make([]byte, 64)
		fill(buf, c.Rank())
		check(set.Irecv(in, peer, 1))
		wantError(c, "Irecv with tag -1", set.Irecv(buf, peer, -1), mpi.ErrTag)
		check(set.Isend(buf, peer, 1))
		check(set.WaitAll(), "WaitAll of what was begun beside refused transfers")
		check(verify(in, peer))
	}
	requestsMismatch(mpi.Requests.WaitAll, 8, 16, mpi.ErrLength)(c, newRequests(c))
	set = nil
	collectGarbage()
}
