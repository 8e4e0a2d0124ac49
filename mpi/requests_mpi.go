//go:build mpi && cgo

package mpi

/*
#cgo noescape tc_isend
#cgo nocallback tc_isend
#cgo noescape tc_irecv
#cgo nocallback tc_irecv
#cgo noescape tc_waitall
#cgo nocallback tc_waitall
#cgo noescape tc_testall
#cgo nocallback tc_testall
#cgo noescape tc_ibcast
#cgo nocallback tc_ibcast
#cgo noescape tc_waitany
#cgo nocallback tc_waitany
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// NewRequests returns an empty set of transfers. On Open MPI with its single
// copy, a message that is longer than the buffer of Irecv overwrites memory
// (see the Design section of the package).
func (c *Comm) NewRequests() Requests { return &requests{c: c} }

// requests is a set of transfers under way. The handles, the calls that made
// them and their results stand at equal indices. While buffers are pinned, the communicator
// keeps the set.
type requests struct {
	c       *Comm
	place   int // in the communicator's live sets, from 1; 0: in none
	handles []C.MPI_Request
	results []C.tc_result
	calls   []call
	pins    pins
}

// A call is what an error of WaitAll has to tell about a transfer.
type call struct {
	op        string
	n         int // bytes that a receive expects
	peer, tag int
}

func (r *requests) Isend(buf []byte, dst, tag int) error {
	if err := r.c.check("Isend", len(buf), dst, tag); err != nil {
		return err
	}
	handle := r.prepare(buf)
	code := C.tc_isend(data(buf), C.int(len(buf)), C.int(dst), C.int(tag), r.c.comm, handle)
	return r.started(call{"Isend", len(buf), dst, tag}, code)
}

func (r *requests) Irecv(buf []byte, src, tag int) error {
	if err := r.c.check("Irecv", len(buf), src, tag); err != nil {
		return err
	}
	handle := r.prepare(buf)
	code := C.tc_irecv(data(buf), C.int(len(buf)), C.int(src), C.int(tag), r.c.comm, handle)
	return r.started(call{"Irecv", len(buf), src, tag}, code)
}

// Ibcast is MPI_Ibcast.
func (r *requests) Ibcast(buf []byte, root int) error {
	if r.c.closed {
		return r.c.useAfterClose("Ibcast")
	}
	if err := checkRoot("Ibcast", r.c.rank, r.c.size, len(buf), root); err != nil {
		return err
	}
	handle := r.prepare(buf)
	code := C.tc_ibcast(data(buf), C.int(len(buf)), C.int(root), r.c.comm, handle)
	return r.started(call{"Ibcast", len(buf), root, -1}, code)
}

// prepare pins the buffer of a transfer, and makes a handle to be overwritten by
// MPI.
func (r *requests) prepare(buf []byte) *C.MPI_Request {
	r.c.live.add(r)
	r.pins.pin(buf)
	var handle C.MPI_Request
	r.handles = append(r.handles, handle)
	return &r.handles[len(r.handles)-1]
}

// release gives the buffers back, when no transfer of the set is under way.
func (r *requests) release() {
	r.pins.unpin()
	r.c.live.remove(r)
}

// started keeps the transfer if MPI has begun it.
func (r *requests) started(made call, code C.int) error {
	if code != C.MPI_SUCCESS {
		if r.handles = r.handles[:len(r.handles)-1]; len(r.handles) == 0 {
			r.release() // WaitAll will hardly be called
		}
		return r.c.fault(made.op, code, made.peer, made.tag)
	}
	r.calls = append(r.calls, made)
	r.results = append(r.results, C.tc_result{C.TC_PENDING, -1})
	return nil
}

func (r *requests) WaitAll() error {
	if r.c.closed {
		return r.c.useAfterClose("WaitAll")
	}
	n := len(r.handles)
	if n == 0 {
		return nil
	}
	code := C.tc_waitall(C.int(n), unsafe.SliceData(r.handles), unsafe.SliceData(r.results), r.c.spin)
	return r.complete("WaitAll", code)
}

// Test gives buffers back when all transfers are complete.
func (r *requests) Test() (bool, error) {
	if r.c.closed {
		return true, r.c.useAfterClose("Test")
	}
	n := len(r.handles)
	if n == 0 {
		return true, nil
	}
	left := C.tc_testall(C.int(n), unsafe.SliceData(r.handles), unsafe.SliceData(r.results), r.c.spin)
	if left > 0 {
		return false, nil
	}
	return true, r.complete("Test", left) // 0 is MPI_SUCCESS
}

// complete empties a set of which no transfer is under way, and returns the
// first error.
func (r *requests) complete(op string, code C.int) error {
	r.release()
	r.handles = r.handles[:0]
	calls, results := r.calls, r.results
	r.calls, r.results = r.calls[:0], r.results[:0]
	if code != C.MPI_SUCCESS {
		return r.c.fault(op, code, -1, -1)
	}
	for i, made := range calls {
		result := results[i]
		if err := r.c.fault(made.op, result.code, made.peer, made.tag); err != nil {
			return err
		}
		if made.op == "Irecv" {
			if err := checkLength(made.op, r.c.rank, int(result.count), made.n, made.peer, made.tag); err != nil {
				return err
			}
		}
	}
	return nil
}

// WaitAny leaves buffers pinned until WaitAll.
func (r *requests) WaitAny() (int, error) {
	if r.c.closed {
		return -1, r.c.useAfterClose("WaitAny")
	}
	n := len(r.handles)
	if n == 0 {
		return -1, nil
	}
	switch i := C.tc_waitany(C.int(n), unsafe.SliceData(r.handles), unsafe.SliceData(r.results), r.c.spin); i {
	case C.TC_ENDED:
		return -1, r.c.fault("WaitAny", i, -1, -1)
	case C.int(n):
		return -1, nil
	default:
		return int(i), nil
	}
}

// pinsPerPinner is how many objects a runtime.Pinner holds without a slice of
// its own, which it would allocate anew each time (Go 1.21 to 1.26).
const pinsPerPinner = 5

// pins keeps buffers in place from the start of a transfer to its end. It
// keeps its Pinners, because a fresh one costs an allocation and a finalizer.
type pins struct {
	pinners    []*runtime.Pinner
	count      int     // pinned objects
	start, end uintptr // the last pinned slice, with its capacity
}

func (p *pins) pin(buf []byte) {
	if len(buf) == 0 {
		return
	}
	// Segments of one buffer, in ascending order, are one object.
	first := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	if p.start <= first && first+uintptr(len(buf)) <= p.end {
		return
	}
	p.start, p.end = first, first+uintptr(cap(buf))
	i := p.count / pinsPerPinner
	if i == len(p.pinners) {
		p.pinners = append(p.pinners, new(runtime.Pinner))
	}
	p.pinners[i].Pin(unsafe.SliceData(buf))
	p.count++
}

func (p *pins) unpin() {
	for i := range (p.count + pinsPerPinner - 1) / pinsPerPinner {
		p.pinners[i].Unpin()
	}
	p.count, p.start, p.end = 0, 0, 0
}
