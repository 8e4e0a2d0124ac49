package bcast

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// An executor performs the steps of its rank over a communicator.
type executor struct {
	comm mpi.Communicator
	tag  int

	// With mpi.NonBlocking, transfers of two stages are under way at once: a
	// stage is one receive and the sends that follow it.
	recvs, sends [2]mpi.Requests
	blocking     bool // no NonBlocking

	// failure is the first error. The sets may hold transfers from then on that
	// never end, as the other ranks have gone: they are neither waited for nor
	// used again.
	failure error
}

func newExecutor(comm mpi.Communicator, tag int) *executor {
	e := &executor{comm: comm, tag: tag, blocking: true}
	if nb, ok := comm.(mpi.NonBlocking); ok {
		e.blocking = false
		for i := range 2 {
			e.recvs[i], e.sends[i] = nb.NewRequests(), nb.NewRequests()
		}
	}
	return e
}

// note keeps the first error, and returns the one given.
func (e *executor) note(err error) error {
	if e.failure == nil {
		e.failure = err
	}
	return err
}

// usable is nil as long as nothing has failed.
func (e *executor) usable() error {
	if e.failure != nil {
		return fmt.Errorf("bcast: rank %d: the communicator is unusable since: %w", e.comm.Rank(), e.failure)
	}
	return nil
}

// short is a message in bytes that libraries take from a Send at once. (Open
// MPI's shared memory takes up to about a kilobyte into a mailbox; a longer
// Send ends when the receiver has been there, though it is buffered.)
const short = 256

// run performs the steps on buf. Transfers under way at once gain nothing
// where there is one, or where the sends return at once anyway.
func (e *executor) run(ops []Op, buf []byte) error {
	if e.blocking || len(ops) < 2 || len(buf) <= short {
		return e.inOrder(ops, buf)
	}
	return e.ahead(ops, buf)
}

func (e *executor) inOrder(ops []Op, buf []byte) error {
	for _, op := range ops {
		part := buf[op.Offset : op.Offset+op.Length]
		var err error
		if op.Kind == Send {
			err = e.comm.Send(part, op.Peer, e.tag)
		} else {
			err = e.comm.Recv(part, op.Peer, e.tag)
		}
		if err != nil {
			return e.failed(op, err)
		}
	}
	return nil
}

// maxSends bounds the sends of a stage, for ranks that only send.
const maxSends = 32

// ahead keeps the next receive posted while it waits for the current one, and
// lets the sends of one stage run on during the next. It waits for no transfer
// earlier than inOrder would, so where that ends this does too.
func (e *executor) ahead(ops []Op, buf []byte) error {
	posted := nextRecv(ops, 0)
	if err := e.post(ops, posted, buf, 0); err != nil {
		return err
	}
	recv, send, sending := 0, 0, 0 // the sets in use, and the sends in the current one
	for i, op := range ops {
		if op.Kind == Send {
			if sending == maxSends {
				send, sending = 1-send, 0
				if err := e.wait(e.sends[send]); err != nil {
					return err
				}
			}
			if err := e.sends[send].Isend(buf[op.Offset:op.Offset+op.Length], op.Peer, e.tag); err != nil {
				return e.failed(op, err)
			}
			sending++
			continue
		}
		posted = nextRecv(ops, i+1)
		if err := e.post(ops, posted, buf, 1-recv); err != nil {
			return err
		}
		if err := e.recvs[recv].WaitAll(); err != nil {
			return e.failed(op, err)
		}
		recv = 1 - recv
		if sending > 0 {
			send, sending = 1-send, 0
			if err := e.wait(e.sends[send]); err != nil {
				return err
			}
		}
	}
	if err := e.wait(e.sends[1-send]); err != nil {
		return err
	}
	return e.wait(e.sends[send])
}

// nextRecv is the index of the first receive at or after i, or len(ops).
func nextRecv(ops []Op, i int) int {
	for i < len(ops) && ops[i].Kind != Recv {
		i++
	}
	return i
}

func (e *executor) post(ops []Op, i int, buf []byte, set int) error {
	if i == len(ops) {
		return nil
	}
	op := ops[i]
	if err := e.recvs[set].Irecv(buf[op.Offset:op.Offset+op.Length], op.Peer, e.tag); err != nil {
		return e.failed(op, err)
	}
	return nil
}

func (e *executor) wait(set mpi.Requests) error {
	if err := set.WaitAll(); err != nil {
		return e.note(fmt.Errorf("bcast: rank %d: sends: %w", e.comm.Rank(), err))
	}
	return nil
}

func (e *executor) failed(op Op, err error) error {
	return e.note(fmt.Errorf("bcast: rank %d: %v: %w", e.comm.Rank(), op, err))
}
