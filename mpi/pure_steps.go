//go:build !(mpi && cgo)

package mpi

// perform is tc_perform of steps.h: what that does in C is written into batches of calls here, of which
// a schedule takes one or a few.
func (e *endpoint) perform(buf []byte, steps []Step, tag int, ahead bool) performed {
	if e.lib.ended.Load() {
		return performed{0, codeEnded, -1, false}
	}
	p := performance{e, buf, e.hold(buf), steps, tag, ahead, performed{len(steps), codeOK, -1, false}}
	if ahead {
		p.ahead()
	} else {
		p.inOrder()
	}
	e.release()
	return p.done
}

// batchCalls is how many calls a batch has when it is made, at least, but for the last of a schedule. Few
// schedules have as many: where ranks share cores, each return to Go may wait for its scheduler. They take
// some us to write, and 100 KiB that are kept.
const batchCalls = 1024

// A performance is steps that are performed.
type performance struct {
	*endpoint
	buf     []byte
	at      uintptr // where buf is
	steps   []Step
	tag     int
	isAhead bool
	done    performed
}

// received is what a step receives.
func (s *Step) received() (peer, offset, length int) {
	if s.Kind == StepExchange {
		return s.RecvPeer, s.RecvOffset, s.RecvLength
	}
	return s.Peer, s.Offset, s.Length
}

// isFull tells whether the calls have to be made before more are added.
func (p *performance) isFull() bool { return len(p.batch.pending) >= batchCalls }

// flush makes the calls that have been added, and tells whether all went well.
func (p *performance) flush() bool {
	stopped := p.run()
	if stopped == nil {
		return true
	}
	i, function := stopped.step, stopped.function
	got := result{code(p.batch.code), -1}
	if p.batch.code == int32(stopped.fine) { // a message of another length
		got = result{codeOK, p.endpoint.received()}
		if function == p.lib.tc.mprobe || function == p.lib.tc.improbe { // which is where it was
			_, offset, length := p.steps[i].received()
			got = p.takeProbed(p.buf[offset : offset+length])
		}
	}
	goesOn := p.isAhead || p.steps[i].Kind == StepExchange && function != p.lib.tc.isend
	p.done = performed{i, got.code, got.count, goesOn}
	return false
}

// start adds a step's send.
func (p *performance) start(i int, r *request) {
	s := &p.steps[i]
	p.addStart(i, p.lib.tc.isend, p.at+uintptr(s.Offset), s.Length, s.Peer, p.tag, r)
}

// inOrder performs the steps one after the other.
func (p *performance) inOrder() {
	for i := range p.steps {
		if p.isFull() && !p.flush() {
			return
		}
		s := &p.steps[i]
		peer, offset, length := s.received()
		at := p.at + uintptr(offset)
		switch s.Kind {
		case StepSend:
			p.addPut(i, p.lib.tc.send, p.lib.tc.isend, at, length, peer, p.tag)
		case StepRecv:
			p.addTake(i, at, length, peer, p.tag)
		case StepExchange:
			p.start(i, &p.exchange)
			p.addTake(i, at, length, peer, p.tag)
			p.addWait(i, &p.exchange, p.sentAt())
		}
	}
	p.flush()
}

// A stage is one receive and the sends that follow it, of which there are two at once. A rank that
// only sends makes a new one after stageSends of them.
type stage struct {
	n        int
	requests [stageSends]request
	steps    [stageSends]int // by request
}

const stageSends = 32

// end waits for the sends of a stage.
func (p *performance) end(s *stage) {
	for k := range s.n {
		p.addWait(s.steps[k], &s.requests[k], p.sentAt())
	}
	s.n = 0
}

// ahead keeps the next receive posted while it waits for the current one, and lets the sends of one
// stage run on during the next.
func (p *performance) ahead() {
	if p.stages == nil {
		p.stages = new([2]stage)
	}
	stages := p.stages
	stages[0].n, stages[1].n = 0, 0
	send, current, next := 0, 0, 0 // the stage and the receive in use, and the step up to which receives are posted
	post := func(into int) {
		for next < len(p.steps) && p.steps[next].Kind == StepSend {
			next++
		}
		if next < len(p.steps) {
			peer, offset, length := p.steps[next].received()
			p.addStart(next, p.lib.tc.irecv, p.at+uintptr(offset), length, peer, p.tag, &p.posted[into])
			next++
		}
	}
	post(current) // before anything is sent
	for i := range p.steps {
		if p.isFull() && !p.flush() {
			return
		}
		s := &p.steps[i]
		if s.Kind != StepRecv {
			if stages[send].n == stageSends {
				send = 1 - send
				p.end(&stages[send])
			}
			out := &stages[send]
			p.start(i, &out.requests[out.n])
			out.steps[out.n] = i
			out.n++
		}
		if s.Kind == StepSend {
			continue
		}
		post(1 - current)
		_, _, length := s.received()
		p.expect(p.addWait(i, &p.posted[current], p.statusAt()), length)
		current = 1 - current
		if stages[send].n > 0 {
			send = 1 - send
			p.end(&stages[send])
		}
	}
	p.end(&stages[1-send])
	p.end(&stages[send])
	p.flush()
}
