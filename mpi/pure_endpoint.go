//go:build !(mpi && cgo)

package mpi

import "unsafe"

// A request is a handle of MPI, which of MPICH takes the lower half.
type request uint64

// An endpoint is a communicator of the library, and what its calls need. Memory is handed to C as a
// number, which keeps nothing alive, and a goroutine's stack moves: so C only gets the addresses of
// scratch, which is on the heap, and of buffers, which hold has put there.
type endpoint struct {
	waiting
	lib   *library
	comm  uintptr
	held  *byte // the buffer of the call that goes on
	gang  gang  // those of a collective
	waits bool  // there are waits in the batch
	args  [10]uintptr
	*scratch
	stages *[2]stage // of performAhead
}

// statusRoom is more than any MPI_Status takes.
const statusRoom = 64

// scratch is where C stores results.
type scratch struct {
	status  [statusRoom]byte
	request request
	message uint64 // or another handle
	flag    int32

	sent    [statusRoom]byte // the status of a send
	batch   batch
	outer   batch       // of pingPong, around the other
	between [2]timespec // of pingPong: when its exchanges begin and end

	// Of perform.
	exchange request
	posted   [2]request
}

// open makes an endpoint ready for calls; it has no communicator yet.
func (e *endpoint) open(l *library) {
	e.lib, e.scratch = l, new(scratch)
	e.batch.rounds, e.outer.rounds = 1, 1
	e.batch.yield = l.tc.yieldProcessor
}

// call calls a function of MPI. The slice of arguments that is passed on is kept: another one would be
// garbage of each call.
func (e *endpoint) call(function uintptr, args ...uintptr) code {
	n := copy(e.args[:], args)
	return code(int32(invoke(function, e.args[:n]...)))
}

// hold returns the address of a buffer, and keeps it in place until release.
func (e *endpoint) hold(buf []byte) uintptr {
	if len(buf) == 0 {
		return 0
	}
	e.held = unsafe.SliceData(buf)
	return uintptr(unsafe.Pointer(e.held))
}

func (e *endpoint) release() { e.held = nil }

func (e *endpoint) statusAt() uintptr  { return uintptr(unsafe.Pointer(&e.scratch.status)) }
func (e *endpoint) messageAt() uintptr { return uintptr(unsafe.Pointer(&e.scratch.message)) }
func (e *endpoint) flagAt() uintptr    { return uintptr(unsafe.Pointer(&e.scratch.flag)) }

// requestAt is the address of a request, which is on the heap.
func requestAt(r *request) uintptr { return uintptr(unsafe.Pointer(r)) }

// received is the length of the message that the status tells of.
func (e *endpoint) received() int32 {
	return int32(min(e.lib.count(e.scratch.status[:]), 1<<31-1))
}

// poll is called after a poll in vain, with the number of polls that are left before it gives the core
// away, and returns that number for the next one.
func (e *endpoint) poll(left int32) int32 {
	if left > 0 {
		return left - 1
	}
	e.lib.yield()
	return 0
}

// wait completes a request.
func (e *endpoint) wait(r *request) code {
	e.addWait(0, r, e.statusAt())
	return e.do()
}

// put and get are the blocking transfers, for a caller that knows MPI to be running, and holds the
// buffer at this address. put has the functions for a blocking transfer and for one that is not.

func (e *endpoint) put(blocking, starting uintptr, buf uintptr, n, dst, tag int) code {
	e.addPut(0, blocking, starting, buf, n, dst, tag)
	return e.do()
}

func (e *endpoint) get(buf uintptr, n, src, tag int) code {
	e.addGet(0, buf, n, src, tag)
	return e.do()
}

// landed is the longest message that is received where there is room for any, and copied: 20 ns for
// some bytes, and at most as much as looking costs.
const landed = 4096

// take is a blocking receive that stays within its buffer.
func (e *endpoint) take(buf []byte, src, tag int) result {
	var c code
	switch {
	case !e.guarded:
		c = e.get(e.hold(buf), len(buf), src, tag)
	case e.lands(len(buf)):
		if c = e.get(uintptr(e.landing), len(buf), src, tag); c == codeOK {
			copy(buf, unsafe.Slice((*byte)(e.landing), e.received()))
		}
	default:
		e.addProbe(0, src, tag)
		if c = e.do(); c == codeOK {
			return e.takeProbed(buf)
		}
	}
	if c != codeOK {
		return result{c, -1}
	}
	return result{c, e.received()}
}

// lands tells whether a guarded receive is one where there is room for any message.
func (e *endpoint) lands(n int) bool { return e.landing != nil && n <= landed }

// takeProbed receives the message that a probe has found, of the length that the status tells: one that
// is too long elsewhere.
func (e *endpoint) takeProbed(buf []byte) result {
	into := buf
	if n := int(e.received()); n > len(buf) {
		into = make([]byte, n)
	}
	e.addMatched(0, e.hold(into), len(into))
	switch c := e.do(); {
	case c != codeOK:
		return result{c, -1}
	case len(into) > len(buf):
		return result{code(e.lib.errTruncate), -1}
	}
	return result{codeOK, e.received()}
}

func (e *endpoint) send(buf []byte, dst, tag int) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	c := e.put(e.lib.tc.send, e.lib.tc.isend, e.hold(buf), len(buf), dst, tag)
	e.release()
	return c
}

func (e *endpoint) ssend(buf []byte, dst, tag int) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	c := e.put(e.lib.tc.ssend, e.lib.tc.issend, e.hold(buf), len(buf), dst, tag)
	e.release()
	return c
}

func (e *endpoint) recv(buf []byte, src, tag int) result {
	if e.lib.ended.Load() {
		return result{codeEnded, -1}
	}
	r := e.take(buf, src, tag)
	e.release()
	return r
}

func (e *endpoint) bcast(buf []byte, root int) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	c := e.call(e.lib.tc.bcast, e.hold(buf), uintptr(len(buf)), e.lib.byteType, uintptr(root), e.comm)
	e.release()
	return c
}

func (e *endpoint) who() (rank, size int) {
	e.call(e.lib.tc.rank, e.comm, e.flagAt())
	rank = int(e.flag)
	e.call(e.lib.tc.size, e.comm, e.flagAt())
	return rank, int(e.flag)
}

func (e *endpoint) split(color, key int, part *endpoint) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	if color < 0 {
		color = undefined
	}
	part.open(e.lib)
	e.message = 0
	c := e.call(e.lib.tc.split, e.comm, signed(color), signed(key), e.messageAt())
	part.comm = uintptr(e.message)
	if c == codeOK && !part.isNull() {
		e.call(e.lib.tc.setHandler, part.comm, e.lib.errorsReturn)
	}
	return c
}

func (e *endpoint) isNull() bool { return e.comm == e.lib.commNull }

func (e *endpoint) drop() code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	e.message = uint64(e.comm)
	return e.call(e.lib.tc.free, e.messageAt())
}

func (e *endpoint) meet() code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	if c := e.call(e.lib.tc.ibarrier, e.comm, requestAt(&e.request)); c != codeOK {
		return c
	}
	return e.wait(&e.request)
}
