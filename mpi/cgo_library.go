//go:build mpi && cgo

package mpi

/*
#cgo CFLAGS: -D_GNU_SOURCE
#include "library.h"
*/
import "C"

import "unsafe"

const _ = uint(threadFunneled-C.MPI_THREAD_FUNNELED) + uint(C.MPI_THREAD_FUNNELED-threadFunneled)

// library is the MPI with which the program is linked.
type library struct{}

func openLibrary() (*library, error) { return &library{}, nil }

func (*library) started() bool { return C.tc_started() != 0 }

func (*library) start() (level int, _ code) {
	var provided C.int
	c := C.tc_start(&provided)
	return int(provided), code(c)
}

func (*library) check() error { return nil } // the compiler has

func (*library) world(e *endpoint) code { return code(C.tc_dup_world(&e.comm)) }

func (*library) giveUp() { C.tc_give_up(C.int64_t(giveUpLimit)) }

func (*library) finalize() code { return code(C.tc_finalize()) }

func (*library) abort(status int) { C.tc_abort(C.int(status)) }

func (*library) leave() { C.tc_leave() }

func (*library) isMPICH() bool { return C.tc_is_mpich() != 0 }

func (*library) version() string {
	text := make([]byte, C.MPI_MAX_LIBRARY_VERSION_STRING)
	var n C.int
	C.MPI_Get_library_version((*C.char)(unsafe.Pointer(unsafe.SliceData(text))), &n)
	return string(text[:n])
}

func (*library) processor() string {
	name := make([]byte, C.MPI_MAX_PROCESSOR_NAME)
	var n C.int
	C.MPI_Get_processor_name((*C.char)(unsafe.Pointer(unsafe.SliceData(name))), &n)
	return string(name[:n])
}

func (*library) explain(c code) (what string, class error) {
	var number, n C.int
	text := make([]byte, C.MPI_MAX_ERROR_STRING)
	C.MPI_Error_class(C.int(c), &number)
	C.MPI_Error_string(C.int(c), (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), &n)
	class = ErrOther
	switch number {
	case C.MPI_ERR_RANK, C.MPI_ERR_ROOT:
		class = ErrRank
	case C.MPI_ERR_TAG:
		class = ErrTag
	case C.MPI_ERR_COUNT:
		class = ErrCount
	case C.MPI_ERR_TRUNCATE:
		class = ErrTruncated
	}
	return string(text[:n]), class
}

func (*library) overruns() bool { return C.tc_overruns() != 0 }

func (*library) callCost() float64 { return 0 }

func (*library) loopCost() float64 { return 0 }

func (*library) pages(n int) unsafe.Pointer { return C.tc_pages(C.size_t(n)) }

func (*library) free(pages unsafe.Pointer) { C.free(pages) }
