package local

import "github.com/topocast/topocast/mpi"

// requests is a set of transfers under way.
type requests struct {
	comm     *comm
	pending  []request
	any      transfer // stands for any of the set while a rank of a lockedWorld waits in WaitAny
	patience patience // of a WaitAny in a pinnedWorld
}

type request struct {
	*transfer
	peer, tag int  // for errors; peer is the rank in the communicator
	isTold    bool // WaitAny has returned it
}

// NewRequests returns an empty set of requests.
func (c *comm) NewRequests() mpi.Requests { return &requests{comm: c} }

func (q *requests) Isend(buf []byte, dst, tag int) error {
	return q.begin("Isend", buf, dst, tag, false)
}

func (q *requests) Irecv(buf []byte, src, tag int) error {
	return q.begin("Irecv", buf, src, tag, true)
}

func (q *requests) begin(op string, buf []byte, peer, tag int, receives bool) error {
	if err := q.comm.check(op, len(buf), peer, tag); err != nil {
		return err
	}
	t, err := q.comm.mover.begin(q, buf, peer, tag, receives)
	if err != nil {
		return q.comm.fail(op, peer, tag, err)
	}
	q.pending = append(q.pending, request{transfer: t, peer: peer, tag: tag})
	return nil
}

// WaitAll waits for all transfers, and empties the set. It returns the error of the transfer that was begun first.
func (q *requests) WaitAll() error { return q.finish("WaitAll") }

// Test lets other goroutines run if it is in vain and ranks share cores.
func (q *requests) Test() (bool, error) {
	c := q.comm
	if c.isOpen && !c.job.hasEnded.Load() {
		c.mover.advance()
		for _, r := range q.pending {
			if !c.mover.isDone(r.transfer) {
				c.mover.rest()
				return false, nil
			}
		}
	}
	return true, q.finish("Test")
}

func (q *requests) finish(op string) error {
	if !q.comm.isOpen {
		return q.comm.fail(op, -1, -1, mpi.ErrClosed)
	}
	var first error
	for i, r := range q.pending {
		if err := q.comm.mover.finish(op, r); err != nil && first == nil {
			first = q.comm.fail(op, r.peer, r.tag, err)
		}
		q.pending[i].transfer = nil
	}
	q.pending = q.pending[:0]
	return first
}

// WaitAny returns the lowest number of the transfers that are complete.
func (q *requests) WaitAny() (int, error) {
	const op = "WaitAny"
	c := q.comm
	if !c.isOpen {
		return -1, c.fail(op, -1, -1, mpi.ErrClosed)
	}
	q.patience = patience{}
	for {
		first := -1
		c.mover.advance()
		for i := range q.pending {
			r := &q.pending[i]
			switch {
			case r.isTold:
			case c.mover.isDone(r.transfer):
				r.isTold = true
				return i, nil
			case first < 0:
				first = i
			}
		}
		if first < 0 {
			return -1, nil
		}
		if r := q.pending[first]; !c.mover.waitAny(q, r) {
			return -1, c.fail(op, r.peer, r.tag, mpi.ErrAborted)
		}
	}
}
