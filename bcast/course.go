package bcast

import (
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// A course is the steps of a rank on their way. It keeps the next receive posted
// while the current one is awaited, and lets the sends of one stage run on
// during the next: a stage is one receive and the sends that follow it, and an
// Exchange is a send that ends one and the receive of the next. It waits for no transfer earlier than the order of the steps does, so where that ends
// this does too. For receives from two ranks by turns, one of each is posted.
//
// Where it would have to wait it can be left, to go on there later.
type course struct {
	ops []schedule.Op
	buf []byte
	tag int

	at       int             // the current step
	begun    bool            // its transfers are under way
	received bool            // and its receive has ended
	recvs    [2]mpi.Requests // one receive each
	sends    [2]mpi.Requests // the sends of one stage each
	recv     int             // the set of the current receive
	send     int             // the set of the current stage
	sending  int             // sends in it
}

// maxSends bounds the sends of a stage, for ranks that only send.
const maxSends = 32

func newCourse(nb mpi.NonBlocking) *course {
	c := new(course)
	for i := range 2 {
		c.recvs[i], c.sends[i] = nb.NewRequests(), nb.NewRequests()
	}
	return c
}

// begin takes new steps. Those before have been done.
func (c *course) begin(ops []schedule.Op, buf []byte, tag int) {
	c.ops, c.buf, c.tag = ops, buf, tag
	c.at, c.begun, c.received = -1, false, false
	c.recv, c.send, c.sending = 0, 0, 0
}

// A settler brings the transfers of a set to their end, and tells whether it
// could: one that does not wait may not.
type settler func(mpi.Requests) (bool, error)

func waitAll(set mpi.Requests) (bool, error) { return true, set.WaitAll() }

func test(set mpi.Requests) (bool, error) { return set.Test() }

// proceed goes on until all is done, or the settler could not. An error comes
// with the step at which it was found.
func (c *course) proceed(settle settler) (done bool, at schedule.Op, err error) {
	if c.at < 0 {
		c.at = 0
		if op, err := c.post(nextRecv(c.ops, 0), 0); err != nil {
			return false, op, err
		}
	}
	for ; c.at < len(c.ops); c.at++ {
		op := c.ops[c.at]
		if done, at, err := c.step(op, settle); !done || err != nil {
			return false, at, err
		}
		c.begun, c.received = false, false
	}
	for range 2 {
		if done, err := c.nextStage(settle); !done || err != nil {
			return false, c.ops[len(c.ops)-1], err
		}
	}
	c.buf = nil // the caller's again
	return true, schedule.Op{}, nil
}

// step does what there is to the current step, and tells whether that is all.
func (c *course) step(op schedule.Op, settle settler) (done bool, at schedule.Op, err error) {
	if !c.begun {
		if op.Kind != schedule.Recv {
			if c.sending == maxSends {
				if done, err := c.nextStage(settle); !done || err != nil {
					return false, op, err
				}
			}
			c.sending++
			if err := c.sends[c.send].Isend(c.buf[op.Offset:op.Offset+op.Length], op.Peer, c.tag); err != nil {
				return false, op, err
			}
		}
		if op.Kind != schedule.Send {
			if at, err := c.post(nextRecv(c.ops, c.at+1), 1-c.recv); err != nil {
				return false, at, err
			}
		}
		c.begun = true
	}
	if op.Kind == schedule.Send {
		return true, op, nil
	}
	if !c.received {
		if done, err := settle(c.recvs[c.recv]); !done || err != nil {
			return false, op, err
		}
		c.recv = 1 - c.recv
		c.received = true
	}
	if c.sending == 0 {
		return true, op, nil
	}
	done, err = c.nextStage(settle)
	return done, op, err
}

// nextStage begins a stage where the one before the current has ended.
func (c *course) nextStage(settle settler) (bool, error) {
	done, err := settle(c.sends[1-c.send])
	if done {
		c.send, c.sending = 1-c.send, 0
	}
	return done, err
}

// nextRecv is the index of the first receive at or after i, or len(ops).
func nextRecv(ops []schedule.Op, i int) int {
	for i < len(ops) && ops[i].Kind == schedule.Send {
		i++
	}
	return i
}

// post starts the receive of step i, if there is one.
func (c *course) post(i, set int) (schedule.Op, error) {
	if i == len(c.ops) {
		return schedule.Op{}, nil
	}
	op := c.ops[i]
	if op.Kind == schedule.Exchange {
		op = op.Received()
	}
	return op, c.recvs[set].Irecv(c.buf[op.Offset:op.Offset+op.Length], op.Peer, c.tag)
}
