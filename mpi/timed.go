package mpi

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"
)

// PingPong exchanges messages of size bytes with rank peer and stores in samples[i] the time in seconds
// of the i-th iters round trips. The loop is in assembly, and reads CLOCK_MONOTONIC. Each round trip
// contains four times the loop's cost that CallCosts tells.
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

// CallCosts tells what Go adds to a call of the library, some 50 ns, and what the loop of PingPong adds,
// some 4 ns, in s. Both are measured in some 50 us.
func (c *Comm) CallCosts() (call, loop float64) { return c.lib.callCosts() }

// An arena is the library's memory for measurements. It needs no pin, and a buffer that stays the same
// keeps the registration caches of the network warm.
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

// A timespec is C's.
type timespec struct{ seconds, nanoseconds int64 }

// pingPong makes a batch of one round trip iters times between two readings of the clock, for each sample.
// buf is not Go's memory.
func (e *endpoint) pingPong(buf unsafe.Pointer, size, peer, tag int, first bool, iters int, samples []float64) result {
	if e.lib.ended.Load() {
		return result{codeEnded, -1}
	}
	at := uintptr(buf)
	if first {
		e.addSend(0, e.lib.tc.send, e.lib.tc.isend, at, size, peer, tag)
	}
	e.addRecv(0, at, size, peer, tag)
	if !first {
		e.addSend(0, e.lib.tc.send, e.lib.tc.isend, at, size, peer, tag)
	}
	found := e.lib.returnErrors(e.waits && e.lib.errorsOfRequests())
	c := e.timed(iters, samples)
	e.lib.restoreHandler(found)
	e.waits = false
	if c != codeOK {
		return result{c, -1}
	}
	return result{codeOK, e.received()}
}

// timed makes the batch of the endpoint rounds times for each sample, and empties it. A sample is the time
// of its rounds in s.
func (e *endpoint) timed(rounds int, samples []float64) code {
	inner, outer, clock := &e.batch, &e.outer, e.lib.tc.clock
	inner.ready()
	inner.rounds, inner.polls = uintptr(rounds), uintptr(e.spin)
	for s := range samples {
		e.lib.watch.begin(inner.pending)
		outer.add(0, clock, steadyClock, uintptr(unsafe.Pointer(&e.between[0])))
		outer.add(0, batchAt, uintptr(unsafe.Pointer(inner)))
		outer.add(0, clock, steadyClock, uintptr(unsafe.Pointer(&e.between[1])))
		stopped := outer.run()
		e.lib.watch.end()
		if stopped != nil {
			break
		}
		start, end := e.between[0], e.between[1]
		samples[s] = float64((end.seconds-start.seconds)*1e9+end.nanoseconds-start.nanoseconds) * 1e-9
	}
	inner.pending, inner.rounds = inner.pending[:0], 1
	return code(inner.code)
}

// callCosts times calls of a function that does nothing, from Go and in the loop of pingPong, and takes the
// least of ten times each.
func (l *library) callCosts() (call, loop float64) {
	const batches, calls, loops = 10, 50, 1000
	var e endpoint
	e.open(l)
	call = math.Inf(1)
	for range batches {
		start := time.Now()
		for range calls {
			e.call(l.tc.absolute, 0, 0, 0, 0, 0, 0)
		}
		call = min(call, time.Since(start).Seconds()/calls)
	}
	e.batch.add(0, l.tc.absolute)
	samples := make([]float64, batches)
	e.timed(loops, samples)
	return call, slices.Min(samples) / loops
}
