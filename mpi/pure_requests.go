//go:build !(mpi && cgo)

package mpi

// The caller pins the buffers of these three.

func (e *endpoint) isend(buf []byte, dst, tag int, r *request) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	c := e.begin(e.lib.tc.isend, buf, dst, tag, r)
	e.release()
	return c
}

func (e *endpoint) irecv(buf []byte, src, tag int, r *request) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	c := e.begin(e.lib.tc.irecv, buf, src, tag, r)
	e.release()
	return c
}

func (e *endpoint) ibcast(buf []byte, root int, r *request) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
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

func (e *endpoint) waitAny(rs []request, out []result) int {
	if e.lib.ended.Load() {
		return int(codeEnded)
	}
	found := e.lib.hush(e.lib.hushesRequests())
	defer e.lib.unhush(found)
	for left := max(e.spin-1, 0); ; {
		pending := false
		for i := range rs {
			if out[i].code != codePending {
				continue
			}
			pending = true
			if e.isDone(&rs[i], &out[i]) {
				return i
			}
		}
		if !pending {
			return len(rs)
		}
		if e.spin > 0 {
			left = e.poll(left)
		}
	}
}

func (e *endpoint) testAll(rs []request, out []result) int {
	if e.lib.ended.Load() {
		return int(codeEnded)
	}
	found := e.lib.hush(e.lib.hushesRequests())
	left := 0
	for i := range rs {
		if out[i].code == codePending && !e.isDone(&rs[i], &out[i]) {
			left++
		}
	}
	e.lib.unhush(found)
	if left > 0 && e.spin > 0 {
		e.lib.yield()
	}
	return left
}
