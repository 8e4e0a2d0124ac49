package mpitest

import (
	"fmt"
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
func collectGarbage() error {
	const tries = 1000 // a stack may hold on to garbage for a while
	for range 2 {
		ran := make(chan struct{})
		runtime.SetFinalizer(&struct{ p *int }{new(int)}, func(any) { close(ran) })
		isOver := false
		for try := 0; !isOver; try++ {
			if try == tries {
				return fmt.Errorf("the garbage collector runs no finalizers")
			}
			runtime.GC()
			select {
			case <-ran:
				isOver = true
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// litter allocates objects of a size; ruined tells whether somebody else has
// written to one since.
func litter(size int) [][]byte {
	all := make([][]byte, 64)
	for i := range all {
		all[i] = make([]byte, size)
		fill(all[i], i)
	}
	return all
}

func ruined(all [][]byte) error {
	for i, buf := range all {
		if err := verify(buf, i); err != nil {
			return fmt.Errorf("memory of others was overwritten: %w", err)
		}
	}
	return nil
}

// forgetReceive starts receives into buffers that nobody keeps, in a set that
// nobody keeps.
func forgetReceive(c mpi.Communicator, size, peer int) error {
	set := newRequests(c)
	for tag := range 8 {
		if err := set.Irecv(make([]byte, size), peer, tag); err != nil {
			return err
		}
	}
	return nil
}

// requestsForgotten forgets receives, and gets their messages afterwards.
func requestsForgotten(c mpi.Communicator) error {
	if newRequests(c) == nil {
		return nil
	}
	const size = 4096
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return nil
	}
	if err := forgetReceive(c, size, peer); err != nil {
		return err
	}
	if err := collectGarbage(); err != nil {
		return err
	}
	others := litter(size)
	set := newRequests(c)
	for tag := range 8 {
		buf := make([]byte, size)
		fill(buf, tag+200)
		if err := set.Isend(buf, peer, tag); err != nil {
			return err
		}
	}
	if err := set.WaitAll(); err != nil {
		return err
	}
	// A message of another tag comes after them, and lets the library work.
	in, out := make([]byte, 8), make([]byte, 8)
	if err := set.Irecv(in, peer, 9); err != nil {
		return err
	}
	if err := set.Isend(out, peer, 9); err != nil {
		return err
	}
	if err := set.WaitAll(); err != nil {
		return err
	}
	if err := collectGarbage(); err != nil {
		return err
	}
	return ruined(others)
}

// requestsClosed closes a communicator while transfers are under way: receives
// that nobody answers, and short sends that nobody receives.
func requestsClosed(c mpi.Communicator) error {
	set := newRequests(c)
	closer, ok := c.(io.Closer)
	if set == nil || !ok || c.Size() < 2 {
		return nil
	}
	next := (c.Rank() + 1) % c.Size()
	for tag := range 8 {
		if err := set.Irecv(make([]byte, 4096), next, tag); err != nil {
			return err
		}
	}
	if err := set.Isend(make([]byte, 64), next, 20); err != nil {
		return err
	}
	if err := closer.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	if err := wantError(c, "WaitAll after Close", set.WaitAll(), mpi.ErrClosed); err != nil {
		return err
	}
	set = nil
	return collectGarbage()
}

// requestsAfterErrors goes on with a set after errors that are found at once,
// and drops it, then and after an error of WaitAll.
func requestsAfterErrors(c mpi.Communicator) error {
	set := newRequests(c)
	if set == nil || c.Size() < 2 {
		return nil
	}
	buf := make([]byte, 64)
	if err := wantError(c, "Isend to the rank itself", set.Isend(buf, c.Rank(), 0), mpi.ErrRank); err != nil {
		return err
	}
	if peer := c.Rank() ^ 1; peer < c.Size() {
		in := make([]byte, 64)
		fill(buf, c.Rank())
		if err := set.Irecv(in, peer, 1); err != nil {
			return err
		}
		if err := wantError(c, "Irecv with tag -1", set.Irecv(buf, peer, -1), mpi.ErrTag); err != nil {
			return err
		}
		if err := set.Isend(buf, peer, 1); err != nil {
			return err
		}
		if err := set.WaitAll(); err != nil {
			return fmt.Errorf("WaitAll of what was begun beside refused transfers: %w", err)
		}
		if err := verify(in, peer); err != nil {
			return err
		}
	}
	if err := requestsMismatch(8, 16, mpi.ErrLength)(c); err != nil {
		return err
	}
	set = nil
	return collectGarbage()
}
