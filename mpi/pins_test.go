package mpi

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Every buffer of a set stays where MPI writes to it, though nobody else keeps it, until the set is complete.
func TestEveryBufferOfASetIsPinned(t *testing.T) {
	const buffers = 3*pinsPerPinner + 1
	r := &requests{c: new(Comm)}
	var freed atomic.Int64
	func() {
		for range buffers {
			buf := new([4096]byte)
			runtime.AddCleanup(buf, func(int) { freed.Add(1) }, 0)
			r.prepare(buf[:])
		}
	}()
	collect := func() int64 {
		for range 3 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // cleanups have a goroutine of their own
		}
		return freed.Load()
	}
	if n := collect(); n > 0 {
		t.Errorf("%d of %d buffers are collected while transfers are under way", n, buffers)
	}
	r.release()
	deadline := time.Now().Add(10 * time.Second)
	for collect() < buffers {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d buffers are collected after the set is complete", freed.Load(), buffers)
		}
	}
}
