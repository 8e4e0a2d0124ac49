package mpi

import (
	"runtime"
	"sync"
	"unsafe"
)

// live holds the request sets of a communicator whose buffers MPI may read or write.
//
// The garbage collector must not find such a set unreachable. It would end the process ("found leaking
// pinned pointer"), and rightly so. A caller may forget both the set and the communicator, so roots
// holds live itself.
type live struct {
	sets   []*requests
	isRoot bool           // it is in roots
	leaked runtime.Pinner // buffers of transfers that failed
	leaks  bool           // there are some
}

// roots is where the collector finds what MPI may write to. The process has one MPI.
var roots sync.Map // of *live

// add adds a set, unless it is there.
func (l *live) add(r *requests) {
	if r.place > 0 {
		return
	}
	l.takeRoot()
	l.sets = append(l.sets, r)
	r.place = len(l.sets)
}

func (l *live) takeRoot() {
	if !l.isRoot {
		roots.Store(l, nil)
		l.isRoot = true
	}
}

// leak keeps a buffer for good on which transfers may be under way that nobody waits for any more: those
// of failed steps, or of a failed collective. The caller has held the buffer from the call on, so it is
// on the heap and has not moved.
func (l *live) leak(buf []byte) {
	l.takeRoot()
	l.leaked.Pin(unsafe.SliceData(buf))
	l.leaks = true
}

// remove takes a set out again.
func (l *live) remove(r *requests) {
	if r.place == 0 {
		return
	}
	last := len(l.sets) - 1
	l.sets[r.place-1] = l.sets[last]
	l.sets[r.place-1].place = r.place
	l.sets[last] = nil
	l.sets = l.sets[:last]
	r.place = 0
}

// close lets the collector have the communicator, and tells whether it has: a set with transfers under
// way or a leaked buffer keeps it.
func (l *live) close() bool {
	if len(l.sets) > 0 || l.leaks {
		return false
	}
	if l.isRoot {
		roots.Delete(l)
		l.isRoot = false
	}
	return true
}
