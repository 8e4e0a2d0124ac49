package mpi

// Perform performs the steps in their order. A call from Go makes up to about a thousand calls of the library. Under
// Open MPI, a message that is longer than its StepStartRecv may overwrite memory (see the Limits section of the
// package).
func (c *Comm) Perform(buf []byte, steps []Step, tag int) (failed int, err error) {
	if c.closed {
		return 0, c.useAfterClose("Perform")
	}
	if i, err := checkSteps("Perform", c.rank, c.size, len(buf), steps, tag); err != nil {
		return i, err
	}
	if len(steps) == 0 {
		return 0, nil
	}
	done := c.native.perform(buf, steps, tag)
	if done.step == len(steps) {
		return 0, nil
	}
	if done.leaks {
		c.live.leak(buf)
	}
	s := &steps[done.step]
	op := "Recv"
	if s.Kind == StepSend || s.Kind == StepStartSend {
		op = "Send"
	}
	if err := c.fault(op, done.code, s.Peer, tag); err != nil {
		return done.step, err
	}
	return done.step, checkLength(op, c.rank, int(done.count), s.Length, s.Peer, tag)
}

// performed tells how steps went.
type performed struct {
	step  int   // the step that failed; the number of steps: none has
	code  code  // codeOK: the message had another length, which is count
	count int32 // bytes
	leaks bool  // transfers may be under way on the buffer for good
}

// batchCalls is the number of calls at which a batch is made. Few schedules have as many, and where
// ranks share cores, each return to Go may wait for Go's scheduler. So many calls take some
// microseconds to write, and 100 KiB that are kept.
const batchCalls = 1024

// A stepSet is a set of transfers under way.
type stepSet struct {
	n        int
	requests [StepSetSize]request
	steps    [StepSetSize]int // that have begun them
}

// perform writes the steps as calls of the library into the batch, and makes the calls.
func (e *endpoint) perform(buf []byte, steps []Step, tag int) performed {
	if e.lib.ended.Load() {
		return performed{0, codeEnded, -1, false}
	}
	if e.sets == nil {
		e.sets = new([StepSets]stepSet)
	}
	for i := range e.sets {
		e.sets[i].n = 0
	}
	at := e.hold(buf)
	defer e.release()
	started := false
	for i := range steps {
		if len(e.batch.pending) >= batchCalls {
			if done, ok := e.flush(started); !ok {
				return done
			}
		}
		s := &steps[i]
		from := at + uintptr(s.Offset)
		switch s.Kind {
		case StepSend:
			e.addSend(i, e.lib.tc.send, e.lib.tc.isend, from, s.Length, s.Peer, tag)
		case StepRecv:
			e.expect(e.addRecv(i, from, s.Length, s.Peer, tag), s.Length)
		case StepWait:
			e.addWaits(&e.sets[s.Set], steps)
		default:
			function := e.lib.tc.isend
			if s.Kind == StepStartRecv {
				function = e.lib.tc.irecv
			}
			set := &e.sets[s.Set]
			e.addStart(i, function, from, s.Length, s.Peer, tag, &set.requests[set.n])
			set.steps[set.n] = i
			set.n++
			started = true
		}
	}
	if done, ok := e.flush(started); !ok {
		return done
	}
	return performed{step: len(steps)}
}

// addWaits adds the waits for the transfers of a set.
func (e *endpoint) addWaits(set *stepSet, steps []Step) {
	for k := range set.n {
		i := set.steps[k]
		if steps[i].Kind == StepStartSend {
			e.addWait(i, &set.requests[k], e.sentAt())
		} else {
			e.expect(e.addWait(i, &set.requests[k], e.statusAt()), steps[i].Length)
		}
	}
	set.n = 0
}

// flush makes the calls that have been added, if any: a wait for a set without transfers is none. It is false if one of
// them failed.
func (e *endpoint) flush(started bool) (performed, bool) {
	if len(e.batch.pending) == 0 {
		return performed{}, true
	}
	stopped := e.run()
	if stopped == nil {
		return performed{}, true
	}
	done := performed{stopped.step, code(e.batch.code), -1, started}
	if done.code == codeOK { // a message of another length
		done.count = e.received()
	}
	return done, false
}
