package mpi

// Perform performs the steps in their order, in one call from Go, or one for some hundred of them. On Open MPI with
// its single copy, a message that is longer than its step overwrites memory with
// ahead (see the Design section of the package).
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
	if done.stranded {
		c.live.strand(buf)
	}
	return c.failedStep(steps, tag, done)
}

// failedStep is the error of a step.
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
