//go:build !(mpi && cgo)

package mpi

import (
	"math"
	"time"
	"unsafe"
)

// pingPong is tc_pingpong of shim.h, in Go: each reading has the price of two calls per round trip in it.
func (e *endpoint) pingPong(buf unsafe.Pointer, size, peer, tag int, first bool, iters int, samples []float64) result {
	if e.lib.ended.Load() {
		return result{codeEnded, -1}
	}
	at := uintptr(buf) // which is none of Go's memory
	last := int32(-1)
	for s := range samples {
		start := time.Now()
		for range iters {
			if first {
				if c := e.put(e.lib.tc.send, e.lib.tc.isend, at, size, peer, tag); c != codeOK {
					return result{c, -1}
				}
			}
			if c := e.get(at, size, peer, tag); c != codeOK {
				return result{c, -1}
			}
			last = e.received()
			if !first {
				if c := e.put(e.lib.tc.send, e.lib.tc.isend, at, size, peer, tag); c != codeOK {
					return result{c, -1}
				}
			}
		}
		samples[s] = time.Since(start).Seconds()
	}
	return result{codeOK, last}
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
			e.call(l.tc.freeMemory, 0, 0, 0, 0, 0, 0) // of no memory
		}
		least = min(least, time.Since(start).Seconds()/calls)
	}
	return least
}
