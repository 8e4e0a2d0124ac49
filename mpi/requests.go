package mpi

import (
	"runtime"
	"unsafe"
)

// NewRequests returns an empty set of transfers, which is also an Ibcaster.
func (c *Comm) NewRequests() Requests { return &requests{c: c} }

// requests is a set of transfers under way. The handles, the calls that made them and their results stand at
// equal indices. While buffers are pinned, the communicator keeps the set.
type requests struct {
	c       *Comm
	place   int // in the communicator's live sets, from 1; 0: in none
	handles []request
	results []result
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
	return r.start("Isend", r.c.lib.tc.isend, buf, dst, tag)
}

func (r *requests) Irecv(buf []byte, src, tag int) error {
	return r.start("Irecv", r.c.lib.tc.irecv, buf, src, tag)
}

// start starts a transfer by MPI_Isend or MPI_Irecv.
func (r *requests) start(op string, function uintptr, buf []byte, peer, tag int) error {
	if err := r.c.check(op, len(buf), peer, tag); err != nil {
		return err
	}
	handle := r.prepare(buf)
	return r.started(call{op, len(buf), peer, tag}, r.c.native.start(function, buf, peer, tag, handle))
}

// Ibcast is MPI_Ibcast.
func (r *requests) Ibcast(buf []byte, root int) error {
	if err := r.c.checkRoot("Ibcast", len(buf), root); err != nil {
		return err
	}
	handle := r.prepare(buf)
	return r.started(call{"Ibcast", len(buf), root, -1}, r.c.native.ibcast(buf, root, handle))
}

// prepare pins the buffer of a transfer, and makes a handle for MPI to overwrite.
func (r *requests) prepare(buf []byte) *request {
	r.c.live.add(r)
	r.pins.pin(buf)
	r.handles = append(r.handles, 0)
	return &r.handles[len(r.handles)-1]
}

// release gives the buffers back, when no transfer of the set is under way.
func (r *requests) release() {
	r.pins.unpin()
	r.c.live.remove(r)
}

// started keeps the transfer if MPI has begun it.
func (r *requests) started(made call, code code) error {
	if code != codeOK {
		if r.handles = r.handles[:len(r.handles)-1]; len(r.handles) == 0 {
			r.release() // WaitAll will hardly be called
		}
		return r.c.fault(made.op, code, made.peer, made.tag)
	}
	r.calls = append(r.calls, made)
	r.results = append(r.results, result{codePending, -1})
	return nil
}

func (r *requests) WaitAll() error {
	if r.c.closed {
		return r.c.useAfterClose("WaitAll")
	}
	if len(r.handles) == 0 {
		return nil
	}
	return r.complete("WaitAll", r.c.native.waitAll(r.handles, r.results))
}

// Test gives buffers back when all transfers are complete.
func (r *requests) Test() (bool, error) {
	if r.c.closed {
		return true, r.c.useAfterClose("Test")
	}
	if len(r.handles) == 0 {
		return true, nil
	}
	left := r.c.native.testAll(r.handles, r.results)
	if left > 0 {
		return false, nil
	}
	return true, r.complete("Test", code(left)) // 0 is codeOK
}

// complete empties a set of which no transfer is under way, and returns the
// first error.
func (r *requests) complete(op string, code code) error {
	r.release()
	r.handles = r.handles[:0]
	calls, results := r.calls, r.results
	r.calls, r.results = r.calls[:0], r.results[:0]
	if code != codeOK {
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
	if len(r.handles) == 0 {
		return -1, nil
	}
	i, failed := r.c.native.waitAny(r.handles, r.results)
	return i, r.c.fault("WaitAny", failed, -1, -1)
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

// start starts a transfer of a buffer that the caller has pinned.
func (e *endpoint) start(function uintptr, buf []byte, peer, tag int, r *request) code {
	c := e.begin(function, buf, peer, tag, r)
	e.release()
	return c
}

// ibcast starts a broadcast of a buffer that the caller has pinned.
func (e *endpoint) ibcast(buf []byte, root int, r *request) code {
	c := e.call(e.lib.tc.ibcast, e.hold(buf), uintptr(len(buf)), e.lib.byteType, uintptr(root), e.comm, requestAt(r))
	e.release()
	return c
}

// begin starts a transfer, and holds its buffer.
func (e *endpoint) begin(function uintptr, buf []byte, peer, tag int, r *request) code {
	return e.call(function, e.hold(buf), uintptr(len(buf)), e.lib.byteType, uintptr(peer), uintptr(tag), e.comm, requestAt(r))
}

// waitAll completes the requests one after the other; MPI drives all of them while it waits for one.
// Unlike MPI_Waitall this gives each request its own code, and leaves none pending after an error.
func (e *endpoint) waitAll(rs []request, out []result) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	for i := range rs {
		if out[i].code != codePending {
			continue
		}
		if out[i].code = e.wait(&rs[i]); out[i].code == codeOK {
			out[i].count = e.received()
		}
	}
	return codeOK
}

// isDone completes a request if it can.
func (e *endpoint) isDone(r *request, out *result) bool {
	e.flag = 0
	c := e.call(e.lib.tc.test, requestAt(r), e.flagAt(), e.statusAt())
	if c == codeOK && e.flag == 0 {
		return false
	}
	if out.code = c; c == codeOK {
		out.count = e.received()
	}
	return true
}

// waitAny returns the index of a request that it has completed; -1: none was pending.
func (e *endpoint) waitAny(rs []request, out []result) (int, code) {
	if e.lib.ended.Load() {
		return -1, codeEnded
	}
	found := e.lib.returnErrors(e.lib.errorsOfRequests())
	defer e.lib.restoreHandler(found)
	for left := max(e.spin-1, 0); ; {
		pending := false
		for i := range rs {
			if out[i].code != codePending {
				continue
			}
			pending = true
			if e.isDone(&rs[i], &out[i]) {
				return i, codeOK
			}
		}
		if !pending {
			return -1, codeOK
		}
		if left > 0 { // polls before the core is yielded
			left--
		} else if e.spin > 0 {
			e.lib.yield()
		}
	}
}

func (e *endpoint) testAll(rs []request, out []result) int {
	if e.lib.ended.Load() {
		return int(codeEnded)
	}
	found := e.lib.returnErrors(e.lib.errorsOfRequests())
	left := 0
	for i := range rs {
		if out[i].code == codePending && !e.isDone(&rs[i], &out[i]) {
			left++
		}
	}
	e.lib.restoreHandler(found)
	if left > 0 && e.spin > 0 {
		e.lib.yield()
	}
	return left
}
