//go:build mpi && cgo

package mpi

/*
#cgo noescape tc_perform
#cgo nocallback tc_perform
#include "steps.h"
*/
import "C"

import "unsafe"

// C reads steps where they are: an int of 64 bits is what it takes for one.
const (
	_ = uint(unsafe.Sizeof(Step{}) - C.sizeof_tc_step)
	_ = uint(C.sizeof_tc_step - unsafe.Sizeof(Step{}))
	_ = uint(StepSend-C.TC_SEND) + uint(StepRecv-C.TC_RECV) + uint(StepExchange-C.TC_EXCHANGE)
)

// Perform performs the steps in their order, in one call of C. On Open MPI with
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
	var isAhead C.int
	if ahead {
		isAhead = 1
	}
	done := C.tc_perform(data(buf), C.int(len(steps)), (*C.tc_step)(unsafe.Pointer(unsafe.SliceData(steps))), C.int(tag),
		isAhead, c.comm, c.spin, c.guard)
	if int(done.step) == len(steps) {
		return 0, nil
	}
	if done.stranded != 0 {
		c.live.strand(buf)
	}
	return c.failedStep(steps, tag, done)
}

// failedStep is the error of a step.
func (c *Comm) failedStep(steps []Step, tag int, done C.tc_performed) (int, error) {
	i := int(done.step)
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
