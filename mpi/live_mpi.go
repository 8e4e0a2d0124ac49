//go:build mpi && cgo

package mpi

import "runtime/cgo"

// live holds the sets of a communicator that have buffers in MPI's hands. The
// garbage collector must not find such a set unreachable: it would end the
// process ("found leaking pinned pointer"), and rightly so, since MPI may still
// write. A caller may forget both the set and the communicator, so the handle,
// a root of the collector's, holds live itself.
type live struct {
	sets []*requests
	root cgo.Handle
}

// add adds a set, unless it is there.
func (l *live) add(r *requests) {
	if r.place > 0 {
		return
	}
	if l.root == 0 {
		l.root = cgo.NewHandle(l)
	}
	l.sets = append(l.sets, r)
	r.place = len(l.sets)
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
// set that is left keeps it.
func (l *live) close() bool {
	if len(l.sets) > 0 {
		return false
	}
	if l.root != 0 {
		l.root.Delete()
		l.root = 0
	}
	return true
}
