//go:build !(mpi && cgo)

package mpi

// perform is tc_perform of steps.h, in Go.
func (e *endpoint) perform(buf []byte, steps []Step, tag int, ahead bool) performed {
	if e.lib.ended.Load() {
		return performed{0, codeEnded, -1, false}
	}
	var done performed
	if ahead {
		done = e.performAhead(buf, steps, tag)
	} else {
		done = e.performInOrder(buf, steps, tag)
	}
	e.release()
	return done
}

// received is what a step receives.
func (s *Step) received() (peer, offset, length int) {
	if s.Kind == StepExchange {
		return s.RecvPeer, s.RecvOffset, s.RecvLength
	}
	return s.Peer, s.Offset, s.Length
}

// post starts a step's send.
func (e *endpoint) post(buf []byte, s *Step, tag int, r *request) code {
	return e.begin(e.lib.tc.isend, buf[s.Offset:s.Offset+s.Length], s.Peer, tag, r)
}

// performInOrder performs the steps one after the other.
func (e *endpoint) performInOrder(buf []byte, steps []Step, tag int) performed {
	for i := range steps {
		s := &steps[i]
		peer, offset, length := s.received()
		in := buf[offset : offset+length]
		got, sending := result{codeOK, int32(length)}, false
		switch s.Kind {
		case StepSend:
			got.code = e.put(e.lib.tc.send, e.lib.tc.isend, e.hold(in), length, peer, tag)
		case StepExchange:
			if got.code = e.post(buf, s, tag, &e.exchange); got.code != codeOK {
				break
			}
			sending = true
			fallthrough
		case StepRecv:
			got = e.take(in, peer, tag)
		}
		if sending && got.code == codeOK && int(got.count) == length {
			got.code = e.wait(&e.exchange)
		}
		if got.code != codeOK || int(got.count) != length {
			return performed{i, got.code, got.count, sending}
		}
	}
	return performed{len(steps), codeOK, -1, false}
}

// A stage is one receive and the sends that follow it, of which there are two at once. A rank that
// only sends makes a new one after stageSends of them.
type stage struct {
	n        int
	requests [stageSends]request
	steps    [stageSends]int // by request
}

const stageSends = 32

// end waits for the sends of a stage, and returns the step that failed, or -1.
func (s *stage) end(e *endpoint) (int, code) {
	for k := range s.n {
		if c := e.wait(&s.requests[k]); c != codeOK {
			return s.steps[k], c
		}
	}
	s.n = 0
	return -1, codeOK
}

// performAhead keeps the next receive posted while it waits for the current one, and lets the sends
// of one stage run on during the next.
func (e *endpoint) performAhead(buf []byte, steps []Step, tag int) performed {
	if e.stages == nil {
		e.stages = new([2]stage)
	}
	stages, recvs := e.stages, &e.posted
	stages[0].n, stages[1].n = 0, 0
	send, current, next := 0, 0, 0 // the stage and the receive in use, and the step up to which receives are posted
	postNext := func(into int) (int, code) {
		for next < len(steps) && steps[next].Kind == StepSend {
			next++
		}
		if next == len(steps) {
			return -1, codeOK
		}
		peer, offset, length := steps[next].received()
		c := e.begin(e.lib.tc.irecv, buf[offset:offset+length], peer, tag, &recvs[into])
		next++
		return next - 1, c
	}
	failed := func(i int, c code) performed { return performed{i, c, -1, true} }
	if i, c := postNext(current); c != codeOK { // before anything is sent
		return failed(i, c)
	}
	for i := range steps {
		s := &steps[i]
		if s.Kind != StepRecv {
			if stages[send].n == stageSends {
				send = 1 - send
				if k, c := stages[send].end(e); c != codeOK {
					return failed(k, c)
				}
			}
			out := &stages[send]
			if c := e.post(buf, s, tag, &out.requests[out.n]); c != codeOK {
				return failed(i, c)
			}
			out.steps[out.n] = i
			out.n++
		}
		if s.Kind == StepSend {
			continue
		}
		if k, c := postNext(1 - current); c != codeOK {
			return failed(k, c)
		}
		_, _, length := s.received()
		c, count := e.wait(&recvs[current]), int32(-1)
		if c == codeOK {
			count = e.received()
		}
		if c != codeOK || int(count) != length {
			return performed{i, c, count, true}
		}
		current = 1 - current
		if stages[send].n > 0 {
			send = 1 - send
			if k, c := stages[send].end(e); c != codeOK {
				return failed(k, c)
			}
		}
	}
	for _, last := range []int{1 - send, send} {
		if k, c := stages[last].end(e); c != codeOK {
			return failed(k, c)
		}
	}
	return performed{len(steps), codeOK, -1, false}
}
