package mpi

import (
	"unsafe"
)

// A request is a handle of MPI. MPICH's handles take the lower half.
type request uint64

// An endpoint is a communicator of the library, and what its calls need.
//
// C gets memory as a number, which keeps nothing alive, and a goroutine's stack moves. So C only gets
// the addresses of scratch, which is on the heap, and of buffers that hold has put there.
type endpoint struct {
	lib  *library
	comm uintptr
	spin int32 // polls before a wait yields the core; 0: the library waits itself

	held  *byte              // the buffer of the current call
	kept  [4]unsafe.Pointer  // buffers and layouts of the current collective
	waits bool               // there are waits in the batch
	args  [10]uintptr        // scratch: the arguments of a collective
	sets  *[StepSets]stepSet // of perform
	*scratch
}

// statusRoom is more than any MPI_Status takes.
const statusRoom = 64

// scratch is where C stores results.
type scratch struct {
	status  [statusRoom]byte
	request request
	handle  uint64
	flag    int32

	single  batchCall        // of one
	one     batch            // of a plain call
	sent    [statusRoom]byte // the status of a send
	batch   batch
	outer   batch       // of pingPong, around the other
	between [2]timespec // of pingPong: when its exchanges begin and end
}

// A code is what calls of MPI return, or one of ours. No code of MPI is negative.
type code int32

const (
	codeOK      code = 0
	codeEnded   code = -1 // MPI has been finalised, and would end the process on any call
	codePending code = -2 // of a request that is not complete
)

// A result is how a receive has ended.
type result struct {
	code  code
	count int32 // bytes received; -1 if that does not apply
}

// open makes an endpoint ready for calls; it has no communicator yet.
func (e *endpoint) open(l *library) {
	e.lib, e.scratch = l, new(scratch)
	e.batch.rounds, e.outer.rounds = 1, 1
	e.batch.yield = l.tc.yieldProcessor
	e.one.calls, e.one.n, e.one.rounds = uintptr(unsafe.Pointer(&e.single)), 1, 1
}

// call calls a function of MPI that has at most seven arguments. What it writes is all that changes from one
// plain call to the next.
func (e *endpoint) call(function uintptr, args ...uintptr) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	e.single.function = function
	copy(e.single.args[:], args)
	w := e.lib.watch
	w.beginCall(function)
	runBatch(&e.one)
	w.end()
	return code(e.one.code)
}

// do makes the calls of the batch, and returns the result of the last one.
func (e *endpoint) do() code {
	e.run()
	return code(e.batch.code)
}

// run makes the calls of the batch, and returns the one that stopped it. If there are waits among them,
// MPI_COMM_WORLD returns its errors meanwhile.
func (e *endpoint) run() *batchCall {
	found := e.lib.returnErrors(e.waits && e.lib.errorsOfRequests())
	e.batch.polls = uintptr(e.spin)
	e.lib.watch.begin(e.batch.pending)
	stopped := e.batch.run()
	e.lib.watch.end()
	e.lib.restoreHandler(found)
	e.waits = false
	return stopped
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

func (e *endpoint) statusAt() uintptr { return uintptr(unsafe.Pointer(&e.scratch.status)) }
func (e *endpoint) sentAt() uintptr   { return uintptr(unsafe.Pointer(&e.scratch.sent)) }
func (e *endpoint) handleAt() uintptr { return uintptr(unsafe.Pointer(&e.scratch.handle)) }
func (e *endpoint) flagAt() uintptr   { return uintptr(unsafe.Pointer(&e.scratch.flag)) }

// requestAt is the address of a request, which is on the heap.
func requestAt(r *request) uintptr { return uintptr(unsafe.Pointer(r)) }

// received is the length of the message that the status tells of.
func (e *endpoint) received() int32 { return e.lib.count(e.scratch.status[:]) }

// The functions add... add a transfer to the batch, as part of a step of a schedule. With spin > 0 a wait
// polls that often, and then yields the core between polls. MPICH never yields by itself, so ranks that
// outnumber the cores would wait for each other's time slices.

// addStart adds the start of a transfer: MPI_Isend, MPI_Issend or MPI_Irecv.
func (e *endpoint) addStart(step int, function, buf uintptr, n, peer, tag int, r *request) {
	e.batch.add(step, function, buf, uintptr(n), e.lib.byteType, uintptr(peer), uintptr(tag), e.comm, requestAt(r))
}

// addWait adds the wait for a request.
func (e *endpoint) addWait(step int, r *request, status uintptr) *batchCall {
	e.waits = true
	if e.spin == 0 {
		return e.batch.add(step, e.lib.tc.wait, requestAt(r), status)
	}
	c := e.batch.add(step, e.lib.tc.test, requestAt(r), e.flagAt(), status)
	c.flag = e.flagAt()
	return c
}

// addSend adds a send by one of two functions: a blocking one, and one that starts a transfer.
func (e *endpoint) addSend(step int, blocking, starting, buf uintptr, n, dst, tag int) {
	if e.spin == 0 {
		e.batch.add(step, blocking, buf, uintptr(n), e.lib.byteType, uintptr(dst), uintptr(tag), e.comm)
		return
	}
	e.addStart(step, starting, buf, n, dst, tag, &e.request)
	e.addWait(step, &e.request, e.sentAt())
}

// addRecv adds a receive. The result is the call after which the status tells the length.
func (e *endpoint) addRecv(step int, buf uintptr, n, src, tag int) *batchCall {
	if e.spin == 0 {
		return e.batch.add(step, e.lib.tc.recv, buf, uintptr(n), e.lib.byteType, uintptr(src), uintptr(tag), e.comm, e.statusAt())
	}
	e.addStart(step, e.lib.tc.irecv, buf, n, src, tag, &e.request)
	return e.addWait(step, &e.request, e.statusAt())
}

// expect stops the batch after a call unless the status tells of n bytes.
func (e *endpoint) expect(c *batchCall, n int) {
	c.word, c.wanted = e.statusAt()+uintptr(e.lib.counted), uintptr(n)
}

// wait completes a request.
func (e *endpoint) wait(r *request) code {
	e.addWait(0, r, e.statusAt())
	return e.do()
}

// send sends by one of two functions: a blocking one, and one that starts a transfer.
func (e *endpoint) send(blocking, starting uintptr, buf []byte, dst, tag int) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	var c code
	if e.spin == 0 {
		c = e.call(blocking, e.hold(buf), uintptr(len(buf)), e.lib.byteType, uintptr(dst), uintptr(tag), e.comm)
	} else {
		e.addSend(0, blocking, starting, e.hold(buf), len(buf), dst, tag)
		c = e.do()
	}
	e.release()
	return c
}

func (e *endpoint) recv(buf []byte, src, tag int) result {
	if e.lib.ended.Load() {
		return result{codeEnded, -1}
	}
	var c code
	if e.spin == 0 {
		c = e.call(e.lib.tc.recv, e.hold(buf), uintptr(len(buf)), e.lib.byteType, uintptr(src), uintptr(tag), e.comm, e.statusAt())
	} else {
		e.addRecv(0, e.hold(buf), len(buf), src, tag)
		c = e.do()
	}
	e.release()
	if c != codeOK {
		return result{c, -1}
	}
	return result{c, e.received()}
}

func (e *endpoint) bcast(buf []byte, root int) code {
	c := e.call(e.lib.tc.bcast, e.hold(buf), uintptr(len(buf)), e.lib.byteType, uintptr(root), e.comm)
	e.release()
	return c
}

// who returns the number of the calling rank and the number of ranks.
func (e *endpoint) who() (rank, size int) {
	e.call(e.lib.tc.rank, e.comm, e.flagAt())
	rank = int(e.flag)
	e.call(e.lib.tc.size, e.comm, e.flagAt())
	return rank, int(e.flag)
}

// split makes part a communicator of the ranks with an equal color; color < 0: none.
func (e *endpoint) split(color, key int, part *endpoint) code {
	if color < 0 {
		color = undefined
	}
	part.open(e.lib)
	e.handle = 0
	c := e.call(e.lib.tc.split, e.comm, signed(color), signed(key), e.handleAt())
	part.comm = uintptr(e.handle)
	if c == codeOK && !part.isNull() {
		e.call(e.lib.tc.setHandler, part.comm, e.lib.errorsReturn)
	}
	return c
}

func (e *endpoint) isNull() bool { return e.comm == e.lib.commNull }

// free frees the communicator.
func (e *endpoint) free() code {
	e.handle = uint64(e.comm)
	return e.call(e.lib.tc.free, e.handleAt())
}

// barrier is MPI_Ibarrier and a wait, which yields.
func (e *endpoint) barrier() code {
	if c := e.call(e.lib.tc.ibarrier, e.comm, requestAt(&e.request)); c != codeOK {
		return c
	}
	return e.wait(&e.request)
}
