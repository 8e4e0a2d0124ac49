package mpi

import (
	"runtime"
	"sync"
	"unsafe"
)

// live holds the sets of a communicator that have buffers in MPI's hands. The
// garbage collector must not find such a set unreachable: it would end the
// process ("found leaking pinned pointer"), and rightly so, since MPI may still
// write. A caller may forget both the set and the communicator, so roots holds live itself.
type live struct {
	sets     []*requests
	isRoot   bool           // it is in roots
	stranded runtime.Pinner // buffers of what failed
	isKept   bool           // there are some
}

// roots is where the collector finds what MPI, of which the process has one, may write to.
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

// strand keeps, for good, a buffer on which transfers may be under way that nobody
// waits for any more: of steps, or of a collective, which fails with its own messages on the way. The caller has it from where it was until here: what
// reaches this cannot be on a stack, which would move.
func (l *live) strand(buf []byte) {
	l.takeRoot()
	l.stranded.Pin(unsafe.SliceData(buf))
	l.isKept = true
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

// close lets the collector have the communicator, and tells whether it has: a
// set that is left keeps it, or a stranded buffer.
func (l *live) close() bool {
	if len(l.sets) > 0 || l.isKept {
		return false
	}
	if l.isRoot {
		roots.Delete(l)
		l.isRoot = false
	}
	return true
}
