package bcast

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// An executor performs the steps of its rank over a communicator: all of them in
// one call (mpi.Scheduler), or with transfers of two stages under way at once
// (mpi.NonBlocking, see course), or one by one.
type executor struct {
	comm      mpi.Communicator
	tag       int
	scheduler mpi.Scheduler // nil: none
	steps     []mpi.Step    // for it
	course    *course       // nil: no NonBlocking
	blocking  bool          // neither: nothing can be under way at once
	begun     Pending       // of Ibcast
	groups    *groups       // nil: no broadcasts in groups

	// failure is the first error. The sets may hold transfers from then on that
	// never end, as the other ranks have gone: they are neither waited for nor
	// used again. While a broadcast is under way it is errUnderWay.
	failure error
}

// errUnderWay keeps everything else away from a broadcast that Ibcast has begun.
var errUnderWay = errors.New("a broadcast is under way: wait for it first")

func newExecutor(comm mpi.Communicator, tag int) *executor {
	e := &executor{comm: comm, tag: tag}
	e.scheduler, _ = comm.(mpi.Scheduler)
	if nb, ok := comm.(mpi.NonBlocking); ok {
		e.course = newCourse(nb)
	}
	e.blocking = e.scheduler == nil && e.course == nil
	return e
}

// note keeps the first error, and returns the one given.
func (e *executor) note(err error) error {
	if e.failure == nil || e.failure == errUnderWay {
		e.failure = err
	}
	return err
}

// usable is nil as long as nothing has failed and nothing is under way.
func (e *executor) usable() error {
	switch e.failure {
	case nil:
		return nil
	case errUnderWay:
		return fmt.Errorf("bcast: rank %d: %w", e.comm.Rank(), errUnderWay)
	}
	return fmt.Errorf("bcast: rank %d: the communicator is unusable since: %w", e.comm.Rank(), e.failure)
}

// short is a message in bytes that libraries take from a Send at once. (Open
// MPI's shared memory takes up to about a kilobyte into a mailbox; a longer
// Send ends when the receiver has been there, though it is buffered.)
const short = 256

// run performs the steps on buf. Transfers under way at once gain nothing
// where there is one, or where the sends return at once anyway.
func (e *executor) run(ops []schedule.Op, buf []byte) error {
	switch {
	case e.blocking || len(ops) < 2 || len(buf) <= short:
		return e.inOrder(ops, buf)
	case e.scheduler != nil:
		return e.atOnce(ops, buf, true)
	}
	e.course.begin(ops, buf, e.tag)
	_, err := e.proceed(waitAll)
	return err
}

// inGroups performs steps among which are Natives, and what comes between two of them by run or inOrder.
func (e *executor) inGroups(ops []schedule.Op, buf []byte, blocking bool) error {
	for len(ops) > 0 {
		n := 0
		for n < len(ops) && ops[n].Kind != schedule.Native {
			n++
		}
		var err error
		switch {
		case n == 0:
			n = 1
			if err = e.groups.perform(ops[0], buf); err != nil {
				err = e.failed(ops[0], err)
			}
		case blocking:
			err = e.inOrder(ops[:n], buf)
		default:
			err = e.run(ops[:n], buf)
		}
		if err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}

// inOrder performs the steps one after the other.
func (e *executor) inOrder(ops []schedule.Op, buf []byte) error {
	if e.scheduler != nil {
		return e.atOnce(ops, buf, false)
	}
	for _, op := range ops {
		var err error
		if op.Kind == schedule.Exchange {
			err = e.exchange(op, buf)
		} else {
			err = e.single(op, buf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// single performs a Send or a Recv.
func (e *executor) single(op schedule.Op, buf []byte) error {
	part := buf[op.Offset : op.Offset+op.Length]
	var err error
	if op.Kind == schedule.Send {
		err = e.comm.Send(part, op.Peer, e.tag)
	} else {
		err = e.comm.Recv(part, op.Peer, e.tag)
	}
	if err != nil {
		return e.failed(op, err)
	}
	return nil
}

// exchange performs an Exchange, both halves at once if the communicator can.
func (e *executor) exchange(op schedule.Op, buf []byte) error {
	if e.course == nil {
		first, second := op.Halves(e.comm.Rank())
		if err := e.single(first, buf); err != nil {
			return err
		}
		return e.single(second, buf)
	}
	sends := e.course.sends[0]
	if err := sends.Isend(buf[op.Offset:op.Offset+op.Length], op.Peer, e.tag); err != nil {
		return e.failed(op, err)
	}
	if err := e.single(op.Received(), buf); err != nil {
		return err
	}
	if err := sends.WaitAll(); err != nil {
		return e.failed(op, err)
	}
	return nil
}

// atOnce leaves the steps to the communicator.
func (e *executor) atOnce(ops []schedule.Op, buf []byte, ahead bool) error {
	e.steps = e.steps[:0]
	for i := range ops {
		op := &ops[i]
		kind := mpi.StepSend
		switch op.Kind {
		case schedule.Recv:
			kind = mpi.StepRecv
		case schedule.Exchange:
			kind = mpi.StepExchange
		}
		e.steps = append(e.steps, mpi.Step{
			Kind: kind, Peer: op.Peer, Offset: op.Offset, Length: op.Length,
			RecvPeer: op.RecvPeer, RecvOffset: op.RecvOffset, RecvLength: op.RecvLength,
		})
	}
	if failed, err := e.scheduler.Perform(buf, e.steps, e.tag, ahead); err != nil {
		return e.failed(ops[failed], err)
	}
	return nil
}

// proceed takes the course as far as it goes, and tells whether it is done.
func (e *executor) proceed(settle settler) (bool, error) {
	done, op, err := e.course.proceed(settle)
	if err != nil {
		return done, e.failed(op, err)
	}
	return done, nil
}

func (e *executor) failed(op schedule.Op, err error) error {
	return e.note(fmt.Errorf("bcast: rank %d: %v: %w", e.comm.Rank(), op, err))
}
