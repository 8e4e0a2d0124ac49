package mpi

// Perform performs the steps in their order. A call from Go makes up to about a thousand calls of the
// library. With ahead under Open MPI, a message that is longer than its step may overwrite memory (see
// the Limits section of the package).
func (c *Comm) Perform(buf []byte, steps []Step, tag int, ahead bool) (failed int, err error) {
	if c.closed {
		return 0, c.useAfterClose("Perform")
	}
	if i, err := checkSteps("Perform", c.rank, c.size, len(buf), steps, tag); err != nil {
		return i, err
	}
	if len(steps) == 0 {
		return 0, nil
	}
	done := c.native.perform(buf, steps, tag, ahead)
	if done.step == len(steps) {
		return 0, nil
	}
	if done.leaks {
		c.live.leak(buf)
	}
	return c.failedStep(steps, tag, done)
}

// failedStep returns the index of the step that failed, and its error.
func (c *Comm) failedStep(steps []Step, tag int, done performed) (int, error) {
	i := done.step
	s := steps[i]
	op, peer, want := "Recv", s.Peer, s.Length
	switch s.Kind {
	case StepSend:
		op = "Send"
	case StepExchange:
		op, peer, want = "Exchange", s.RecvPeer, s.RecvLength
	}
	if err := c.fault(op, done.code, peer, tag); err != nil {
		return i, err
	}
	return i, checkLength(op, c.rank, int(done.count), want, peer, tag)
}

// performed tells how steps went.
type performed struct {
	step  int   // the step that failed; the number of steps: none has
	code  code  // codeOK: the message had another length, which is count
	count int32 // bytes
	leaks bool  // transfers are under way on the buffer for good
}

// batchCalls is the number of calls at which a batch is made. Few schedules have as many, and where
// ranks share cores, each return to Go may wait for Go's scheduler. So many calls take some
// microseconds to write, and 100 KiB that are kept.
const batchCalls = 1024

// stageSends bounds the sends of a stage. A rank that only sends begins a new stage after so many.
const stageSends = 32

// A stage is one receive and the sends that follow it. Two stages are under way at once.
type stage struct {
	n        int
	requests [stageSends]request
	steps    [stageSends]int // by request
}

// A performance is a list of steps that is performed. The steps are written as calls of the library
// into the endpoint's batch.
type performance struct {
	*endpoint
	at      uintptr // address of the buffer
	steps   []Step
	tag     int
	isAhead bool
	done    performed
}

func (e *endpoint) perform(buf []byte, steps []Step, tag int, ahead bool) performed {
	if e.lib.ended.Load() {
		return performed{0, codeEnded, -1, false}
	}
	p := performance{e, e.hold(buf), steps, tag, ahead, performed{len(steps), codeOK, -1, false}}
	if ahead {
		p.ahead()
	} else {
		p.inOrder()
	}
	e.release()
	return p.done
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
	i := stopped.step
	got := result{code(p.batch.code), -1}
	if got.code == codeOK { // a message of another length
		got.count = p.endpoint.received()
	}
	leaks := p.isAhead || p.steps[i].Kind == StepExchange && stopped.function != p.lib.tc.isend
	p.done = performed{i, got.code, got.count, leaks}
	return false
}

// start adds the send of a step.
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
			p.addSend(i, p.lib.tc.send, p.lib.tc.isend, at, length, peer, p.tag)
		case StepRecv:
			p.expect(p.addRecv(i, at, length, peer, p.tag), length)
		case StepExchange:
			p.start(i, &p.exchange)
			p.expect(p.addRecv(i, at, length, peer, p.tag), length)
			p.addWait(i, &p.exchange, p.sentAt())
		}
	}
	p.flush()
}

// end waits for the sends of a stage.
func (p *performance) end(s *stage) {
	for k := range s.n {
		p.addWait(s.steps[k], &s.requests[k], p.sentAt())
	}
	s.n = 0
}

// ahead keeps the next receive posted while it waits for the current one, and lets the sends of one
// stage go on during the next.
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
