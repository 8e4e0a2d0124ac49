package mpi

import (
	"fmt"
	"math"
	"unsafe"
)

// PingPong exchanges messages of size bytes with rank peer and stores in
// samples[i] the time in seconds of the i-th iters round trips. The loop is below Go, on
// CLOCK_MONOTONIC: with the tag mpi in C, and without in assembly, where what LoopCost tells
// is in each round trip four times.
func (c *Comm) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	if err := c.check("PingPong", size, peer, tag); err != nil {
		return err
	}
	if iters < 1 || iters > math.MaxInt32 || len(samples) > math.MaxInt32 {
		return &Error{"PingPong", c.rank, peer, tag, fmt.Errorf("%d samples of %d round trips: want at least 1 and at most 2^31-1", len(samples), iters)}
	}
	if len(samples) == 0 {
		return nil
	}
	buf, err := c.arena.bytes(c.lib, size)
	if err != nil {
		return &Error{"PingPong", c.rank, peer, tag, err}
	}
	result := c.native.pingPong(buf, size, peer, tag, first, iters, samples)
	if err := c.fault("PingPong", result.code, peer, tag); err != nil {
		return err
	}
	return checkLength("PingPong", c.rank, int(result.count), size, peer, tag)
}

// CallCost is what Go adds to a call of the library, in s: without the tag mpi, some 80 ns. With it,
// it is not asked for, and told as 0.
func (c *Comm) CallCost() float64 { return c.lib.callCost() }

// LoopCost is what the loop of PingPong adds to a call: 0 with the tag mpi, and without it some 4 ns.
func (c *Comm) LoopCost() float64 { return c.lib.loopCost() }

// An arena is the library's memory for measurements: it needs no pin, and a buffer that
// stays the same keeps the registration caches of the network warm.
type arena struct {
	p unsafe.Pointer
	n int
}

// bytes returns at least n bytes, the same as before if there are enough.
func (a *arena) bytes(lib *library, n int) (unsafe.Pointer, error) {
	if n > a.n {
		a.free(lib)
		p := lib.pages(n)
		if p == nil {
			return nil, fmt.Errorf("no memory for a buffer of %d bytes", n)
		}
		*a = arena{p, n}
	}
	return a.p, nil
}

func (a *arena) free(lib *library) {
	if a.p != nil {
		lib.free(a.p)
	}
	*a = arena{}
}
