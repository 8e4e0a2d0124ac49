//go:build !(mpi && cgo)

package mpi

import "unsafe"

// What is below adds transfers to the batch of an endpoint, as a step of a schedule. With spin > 0 a
// wait polls that often and then gives the core away between polls: MPICH never does so by itself, and
// ranks that outnumber the cores would wait for each other's time slices.

// do makes the calls of the batch.
func (e *endpoint) do() code {
	e.run()
	return code(e.batch.code)
}

// run makes the calls of the batch, and returns the one that stopped it. While there are waits among them, the world is
// hushed.
func (e *endpoint) run() *batchCall {
	found := e.lib.hush(e.waits && e.lib.hushesRequests())
	e.batch.polls = uintptr(e.spin)
	stopped := e.batch.run()
	e.lib.unhush(found)
	e.waits = false
	return stopped
}

// expect lets a call be one that receives n bytes, by the status.
func (e *endpoint) expect(c *batchCall, n int) {
	c.word, c.wanted = e.statusAt()+uintptr(e.lib.counted), uintptr(n)
}

func (e *endpoint) addWait(step int, r *request, status uintptr) *batchCall {
	e.waits = true
	if e.spin == 0 {
		return e.batch.add(step, e.lib.tc.wait, requestAt(r), status)
	}
	c := e.batch.add(step, e.lib.tc.test, requestAt(r), e.flagAt(), status)
	c.flag = e.flagAt()
	return c
}

// addStart adds a transfer that is only started.
func (e *endpoint) addStart(step int, function, buf uintptr, n, peer, tag int, r *request) {
	e.batch.add(step, function, buf, uintptr(n), e.lib.byteType, uintptr(peer), uintptr(tag), e.comm, requestAt(r))
}

// addPut adds a send by one of two functions: for a blocking transfer and for one that is not.
func (e *endpoint) addPut(step int, blocking, starting, buf uintptr, n, dst, tag int) {
	if e.spin == 0 {
		e.batch.add(step, blocking, buf, uintptr(n), e.lib.byteType, uintptr(dst), uintptr(tag), e.comm)
		return
	}
	e.addStart(step, starting, buf, n, dst, tag, &e.request)
	e.addWait(step, &e.request, e.sentAt())
}

func (e *endpoint) addGet(step int, buf uintptr, n, src, tag int) *batchCall {
	if e.spin == 0 {
		return e.batch.add(step, e.lib.tc.recv, buf, uintptr(n), e.lib.byteType, uintptr(src), uintptr(tag), e.comm, e.statusAt())
	}
	e.addStart(step, e.lib.tc.irecv, buf, n, src, tag, &e.request)
	return e.addWait(step, &e.request, e.statusAt())
}

// addTake adds a receive of exactly n bytes that stays within its buffer.
func (e *endpoint) addTake(step int, buf uintptr, n, src, tag int) {
	switch {
	case !e.guarded:
		e.expect(e.addGet(step, buf, n, src, tag), n)
	case e.lands(n):
		e.expect(e.addGet(step, uintptr(e.landing), n, src, tag), n)
		e.batch.add(step, e.lib.tc.copyMemory, buf, uintptr(e.landing), uintptr(n)).fine = buf
	default:
		e.expect(e.addProbe(step, src, tag), n)
		e.addMatched(step, buf, n)
	}
}

// addProbe looks at the length of a message first.
func (e *endpoint) addProbe(step, src, tag int) *batchCall {
	if e.spin == 0 {
		return e.batch.add(step, e.lib.tc.mprobe, uintptr(src), uintptr(tag), e.comm, e.messageAt(), e.statusAt())
	}
	c := e.batch.add(step, e.lib.tc.improbe, uintptr(src), uintptr(tag), e.comm, e.flagAt(), e.messageAt(), e.statusAt())
	c.flag = e.flagAt()
	return c
}

// addMatched receives the message that a probe has found.
func (e *endpoint) addMatched(step int, buf uintptr, n int) {
	if e.spin == 0 {
		e.batch.add(step, e.lib.tc.mrecv, buf, uintptr(n), e.lib.byteType, e.messageAt(), e.statusAt())
		return
	}
	e.batch.add(step, e.lib.tc.imrecv, buf, uintptr(n), e.lib.byteType, e.messageAt(), requestAt(&e.request))
	e.addWait(step, &e.request, e.statusAt())
}

func (e *endpoint) sentAt() uintptr { return uintptr(unsafe.Pointer(&e.scratch.sent)) }
