//go:build mpi && cgo

package mpi

/*
#cgo noescape tc_send
#cgo nocallback tc_send
#cgo noescape tc_ssend
#cgo nocallback tc_ssend
#cgo noescape tc_recv
#cgo nocallback tc_recv
#cgo noescape tc_bcast
#cgo nocallback tc_bcast
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
#cgo noescape tc_perform
#cgo nocallback tc_perform
#cgo noescape tc_pingpong
#cgo nocallback tc_pingpong
#include "library.h"
#include "steps.h"
*/
import "C"

import "unsafe"

// An endpoint is a communicator of the library.
type endpoint struct {
	waiting
	comm C.MPI_Comm
}

type request = C.MPI_Request

// C reads steps where they are, and writes results: an int of 64 bits is what it takes for one.
const (
	_ = uint(unsafe.Sizeof(Step{}) - C.sizeof_tc_step)
	_ = uint(C.sizeof_tc_step - unsafe.Sizeof(Step{}))
	_ = uint(StepSend-C.TC_SEND) + uint(StepRecv-C.TC_RECV) + uint(StepExchange-C.TC_EXCHANGE)
	_ = uint(unsafe.Sizeof(result{}) - C.sizeof_tc_result)
	_ = uint(C.sizeof_tc_result - unsafe.Sizeof(result{}))
	_ = uint(codeEnded-C.TC_ENDED) + uint(C.TC_ENDED-codeEnded)
	_ = uint(codePending-C.TC_PENDING) + uint(C.TC_PENDING-codePending)
	_ = uint(codeOK-C.MPI_SUCCESS) + uint(C.MPI_SUCCESS-codeOK)
)

// data is the address of b for C: nil for an empty slice, which is what MPI
// takes for a message of 0 bytes. It is a pointer to bytes, and the wrappers
// take one: a void pointer would let cgo look through the whole object around
// b, and panic if that holds Go pointers (b may be an array in a struct).
func data(b []byte) *C.uchar {
	if len(b) == 0 {
		return nil
	}
	return (*C.uchar)(unsafe.SliceData(b))
}

func handles(r []request) *request { return unsafe.SliceData(r) }

func results(r []result) *C.tc_result { return (*C.tc_result)(unsafe.Pointer(unsafe.SliceData(r))) }

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (w *waiting) guard() C.tc_guard { return C.tc_guard{truth(w.guarded), w.landing} }

func (e *endpoint) who() (rank, size int) {
	var r, n C.int
	C.MPI_Comm_rank(e.comm, &r)
	C.MPI_Comm_size(e.comm, &n)
	return int(r), int(n)
}

func (e *endpoint) split(color, key int, part *endpoint) code {
	return code(C.tc_split(e.comm, C.int(max(color, -1)), C.int(key), &part.comm))
}

func (e *endpoint) isNull() bool { return C.tc_is_null(e.comm) != 0 }

func (e *endpoint) drop() code { return code(C.tc_free(&e.comm)) }

func (e *endpoint) meet() code { return code(C.tc_meet(e.comm, C.int(e.spin))) }

func (e *endpoint) send(buf []byte, dst, tag int) code {
	return code(C.tc_send(data(buf), C.int(len(buf)), C.int(dst), C.int(tag), e.comm, C.int(e.spin)))
}

func (e *endpoint) ssend(buf []byte, dst, tag int) code {
	return code(C.tc_ssend(data(buf), C.int(len(buf)), C.int(dst), C.int(tag), e.comm, C.int(e.spin)))
}

func (e *endpoint) recv(buf []byte, src, tag int) result {
	r := C.tc_recv(data(buf), C.int(len(buf)), C.int(src), C.int(tag), e.comm, C.int(e.spin), e.guard())
	return result{code(r.code), int32(r.count)}
}

func (e *endpoint) bcast(buf []byte, root int) code {
	return code(C.tc_bcast(data(buf), C.int(len(buf)), C.int(root), e.comm))
}

func (e *endpoint) isend(buf []byte, dst, tag int, r *request) code {
	return code(C.tc_isend(data(buf), C.int(len(buf)), C.int(dst), C.int(tag), e.comm, r))
}

func (e *endpoint) irecv(buf []byte, src, tag int, r *request) code {
	return code(C.tc_irecv(data(buf), C.int(len(buf)), C.int(src), C.int(tag), e.comm, r))
}

func (e *endpoint) ibcast(buf []byte, root int, r *request) code {
	return code(C.tc_ibcast(data(buf), C.int(len(buf)), C.int(root), e.comm, r))
}

func (e *endpoint) waitAll(rs []request, out []result) code {
	return code(C.tc_waitall(C.int(len(rs)), handles(rs), results(out), C.int(e.spin)))
}

func (e *endpoint) waitAny(rs []request, out []result) int {
	return int(C.tc_waitany(C.int(len(rs)), handles(rs), results(out), C.int(e.spin)))
}

func (e *endpoint) testAll(rs []request, out []result) int {
	return int(C.tc_testall(C.int(len(rs)), handles(rs), results(out), C.int(e.spin)))
}

func (e *endpoint) perform(buf []byte, steps []Step, tag int, ahead bool) performed {
	done := C.tc_perform(data(buf), C.int(len(steps)), (*C.tc_step)(unsafe.Pointer(unsafe.SliceData(steps))), C.int(tag),
		truth(ahead), e.comm, C.int(e.spin), e.guard())
	return performed{int(done.step), code(done.code), int32(done.count), done.stranded != 0}
}

func (e *endpoint) pingPong(buf unsafe.Pointer, size, peer, tag int, first bool, iters int, samples []float64) result {
	r := C.tc_pingpong(buf, C.int(size), C.int(peer), C.int(tag), e.comm, C.int(e.spin),
		truth(first), C.int(iters), C.int(len(samples)), (*C.double)(unsafe.SliceData(samples)))
	return result{code(r.code), int32(r.count)}
}
