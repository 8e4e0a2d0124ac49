//go:build !(mpi && cgo)

package mpi

import (
	"math"
	"slices"
	"time"
	"unsafe"
)

// A timespec is C's.
type timespec struct{ seconds, nanoseconds int64 }

// pingPong is tc_pingpong of shim.h: a batch of one round trip, which is a call of another one, between two
// readings of the clock.
func (e *endpoint) pingPong(buf unsafe.Pointer, size, peer, tag int, first bool, iters int, samples []float64) result {
	if e.lib.ended.Load() {
		return result{codeEnded, -1}
	}
	at := uintptr(buf) // which is none of Go's memory
	if first {
		e.addPut(0, e.lib.tc.send, e.lib.tc.isend, at, size, peer, tag)
	}
	e.addGet(0, at, size, peer, tag)
	if !first {
		e.addPut(0, e.lib.tc.send, e.lib.tc.isend, at, size, peer, tag)
	}
	found := e.lib.hush(e.waits && e.lib.hushesRequests())
	c := e.timed(iters, samples)
	e.lib.unhush(found)
	e.waits = false
	if c != codeOK {
		return result{c, -1}
	}
	return result{codeOK, e.received()}
}

// timed makes the batch of the endpoint, and empties it. The samples are the times of so many rounds each, in s.
func (e *endpoint) timed(rounds int, samples []float64) code {
	inner, outer, clock := &e.batch, &e.outer, e.lib.tc.clock
	inner.ready()
	inner.rounds, inner.polls = uintptr(rounds), uintptr(e.spin)
	for s := range samples {
		outer.add(0, clock, steadyClock, uintptr(unsafe.Pointer(&e.between[0])))
		outer.add(0, batchAt, uintptr(unsafe.Pointer(inner)))
		outer.add(0, clock, steadyClock, uintptr(unsafe.Pointer(&e.between[1])))
		if outer.run() != nil {
			break
		}
		start, end := e.between[0], e.between[1]
		samples[s] = float64((end.seconds-start.seconds)*1e9+end.nanoseconds-start.nanoseconds) * 1e-9
	}
	inner.pending, inner.rounds = inner.pending[:0], 1
	return code(inner.code)
}

// callCost calls a function that does nothing, as often as makes the clock's step small, and takes the
// least of some times.
func (l *library) callCost() float64 {
	const batches, calls = 10, 50
	var e endpoint
	least := math.Inf(1)
	for range batches {
		start := time.Now()
		for range calls {
			e.call(l.tc.absolute, 0, 0, 0, 0, 0, 0)
		}
		least = min(least, time.Since(start).Seconds()/calls)
	}
	return least
}

// loopCost does the same in the loop of pingPong.
func (l *library) loopCost() float64 {
	const batches, calls = 10, 1000
	var e endpoint
	e.open(l)
	e.batch.add(0, l.tc.absolute)
	samples := make([]float64, batches)
	e.timed(calls, samples)
	return slices.Min(samples) / calls
}
