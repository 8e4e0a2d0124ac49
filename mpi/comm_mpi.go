//go:build mpi && cgo

package mpi

/*
#cgo CFLAGS: -D_GNU_SOURCE
#cgo noescape tc_send
#cgo nocallback tc_send
#cgo noescape tc_ssend
#cgo nocallback tc_ssend
#cgo noescape tc_recv
#cgo nocallback tc_recv
#cgo noescape tc_bcast
#cgo nocallback tc_bcast
#include "shim.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	"unsafe"
)

// A Comm is a communicator of a real MPI library. It has every ability that
// this package names. Its calls have to come from one thread; World and Run
// lock the goroutine to it.
type Comm struct {
	comm       C.MPI_Comm
	rank, size int
	spin       C.int // polls before a wait yields; 0: the library waits itself
	guard      C.tc_guard
	landing    *landing // of guard; nil: none
	host       string
	epoch      time.Time
	ends       bool          // Close ends MPI, because the World that made this one started it
	limit      time.Duration // of MPI_Finalize; 0: none
	closed     bool
	arena      arena
	live       live
}

// Rank is the number of the calling rank.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of ranks.
func (c *Comm) Size() int { return c.size }

// Send sends buf to rank dst. It may block until the message is received:
// up to a few kilobytes the libraries buffer.
func (c *Comm) Send(buf []byte, dst, tag int) error {
	if err := c.check("Send", len(buf), dst, tag); err != nil {
		return err
	}
	code := C.tc_send(data(buf), C.int(len(buf)), C.int(dst), C.int(tag), c.comm, c.spin)
	return c.fault("Send", code, dst, tag)
}

// Ssend sends buf to rank dst, and returns when dst has begun to receive it.
func (c *Comm) Ssend(buf []byte, dst, tag int) error {
	if err := c.check("Ssend", len(buf), dst, tag); err != nil {
		return err
	}
	code := C.tc_ssend(data(buf), C.int(len(buf)), C.int(dst), C.int(tag), c.comm, c.spin)
	return c.fault("Ssend", code, dst, tag)
}

// Recv receives a message of exactly len(buf) bytes from rank src.
func (c *Comm) Recv(buf []byte, src, tag int) error {
	if err := c.check("Recv", len(buf), src, tag); err != nil {
		return err
	}
	result := C.tc_recv(data(buf), C.int(len(buf)), C.int(src), C.int(tag), c.comm, c.spin, c.guard)
	if err := c.fault("Recv", result.code, src, tag); err != nil {
		return err
	}
	return checkLength("Recv", c.rank, int(result.count), len(buf), src, tag)
}

// Bcast is collective: it copies buf of rank root into buf of all ranks, with
// MPI_Bcast as the library was told to do it. len(buf) and root are equal on
// all ranks.
func (c *Comm) Bcast(buf []byte, root int) error {
	if c.closed || uint(root) >= uint(c.size) || len(buf) > math.MaxInt32 {
		return cmp.Or(c.open("Bcast"), checkRoot("Bcast", c.rank, c.size, len(buf), root))
	}
	code := C.tc_bcast(data(buf), C.int(len(buf)), C.int(root), c.comm)
	if code == C.MPI_SUCCESS {
		return nil
	}
	return c.fault("Bcast", code, root, -1)
}

// Now is the time in seconds by the host's monotonic clock, which all ranks of
// a host share on Linux, read through Go (which is cheaper than MPI_Wtime, and
// as fine).
func (c *Comm) Now() float64 { return time.Since(c.epoch).Seconds() }

// ProcessorName is the name of the host, as MPI_Get_processor_name tells it.
func (c *Comm) ProcessorName() string { return c.host }

// LibraryVersion is the first line of what MPI_Get_library_version tells.
func (c *Comm) LibraryVersion() string {
	text := make([]byte, C.MPI_MAX_LIBRARY_VERSION_STRING)
	var n C.int
	C.MPI_Get_library_version((*C.char)(unsafe.Pointer(unsafe.SliceData(text))), &n)
	line, _, _ := strings.Cut(string(text[:n]), "\n")
	line, _, _ = strings.Cut(line, "\x00")         // which Open MPI counts
	return strings.Join(strings.Fields(line), " ") // MPICH aligns with tabs
}

// check refuses what no library needs to see.
func (c *Comm) check(op string, n, peer, tag int) error {
	if !c.closed && uint(tag) <= MaxTag && isSound(c.rank, c.size, n, peer, 0, n) {
		return nil
	}
	return cmp.Or(c.open(op), checkPeer(op, c.rank, c.size, n, peer, tag))
}

// open tells whether the communicator may be used.
func (c *Comm) open(op string) error {
	if c.closed {
		return c.useAfterClose(op)
	}
	return nil
}

func (c *Comm) useAfterClose(op string) error {
	return &Error{op, c.rank, -1, -1, ErrClosed}
}

// fault turns the code of a call into an error: nil for MPI_SUCCESS.
func (c *Comm) fault(op string, code C.int, peer, tag int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	return &Error{op, c.rank, peer, tag, classError(code)}
}

// classError tells the class of an error code by the sentinels of this
// package. Codes, and the numbers of the classes, differ between libraries.
func classError(code C.int) error {
	if code == C.TC_ENDED {
		return ErrClosed
	}
	var class, n C.int
	text := make([]byte, C.MPI_MAX_ERROR_STRING)
	C.MPI_Error_class(code, &class)
	C.MPI_Error_string(code, (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), &n)
	sentinel := ErrOther
	switch class {
	case C.MPI_ERR_RANK, C.MPI_ERR_ROOT:
		sentinel = ErrRank
	case C.MPI_ERR_TAG:
		sentinel = ErrTag
	case C.MPI_ERR_COUNT:
		sentinel = ErrCount
	case C.MPI_ERR_TRUNCATE:
		sentinel = ErrTruncated
	}
	// MPICH's texts are stacks of several lines.
	return fmt.Errorf("%w: %s", sentinel, strings.Join(strings.Fields(string(text[:n])), " "))
}

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
