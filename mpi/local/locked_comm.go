package local

import (
	"runtime"
	"slices"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A lockedComm is the communicator of the modes Buffered and Rendezvous.
type lockedComm struct {
	endpoint
	world  *lockedWorld
	me     *rankState
	shared *lockedGroup
	op     transfer // of the blocking operation under way

	broadcasts int         // number of broadcasts begun
	color, key int         // of the Split under way
	part       *lockedComm // its outcome
}

// A lockedGroup is what the ranks of one communicator share.
type lockedGroup struct {
	comms   []*lockedComm // by rank
	arrived int           // ranks that have called the Split under way
	shown   []shown       // by root; nil until used
}

// shown is the buffer that a root shows to those who copy it. A root blocks in
// its broadcast, so it never shows two.
type shown struct {
	number int // of the broadcast, from 1
	left   int // ranks that have not copied it
	op     *transfer
}

var (
	_ mpi.Communicator = (*lockedComm)(nil)
	_ mpi.SyncSender   = (*lockedComm)(nil)
	_ mpi.NonBlocking  = (*lockedComm)(nil)
	_ mpi.Clock        = (*lockedComm)(nil)
	_ mpi.Placed       = (*lockedComm)(nil)
	_ mpi.Splitter     = (*lockedComm)(nil)
	_ mpi.NativeBcast  = (*lockedComm)(nil)
	_ mpi.Failer       = (*lockedComm)(nil)
)

// newComms makes the communicators of all ranks of a group. The caller holds
// the lock, or is alone.
func (w *lockedWorld) newComms(host string, group []int) []*lockedComm {
	shared := &lockedGroup{comms: make([]*lockedComm, len(group))}
	w.contexts++
	for rank := range group {
		shared.comms[rank] = &lockedComm{
			endpoint: endpoint{rank: rank, group: group, context: w.contexts, host: host, isOpen: true},
			world:    w,
			me:       &w.ranks[group[rank]],
			shared:   shared,
		}
	}
	return shared.comms
}

// Place has the CPUs of the process: the rank is a plain goroutine.
func (c *lockedComm) Place() mpi.Place {
	return mpi.Place{Host: c.host, Core: -1, CPUs: c.world.cpus}
}

// Now is the time since the world's start in s.
func (c *lockedComm) Now() float64 { return time.Since(c.world.start).Seconds() }

func (c *lockedComm) Send(buf []byte, dst, tag int) error {
	return c.send("Send", buf, dst, tag, c.world.mode == Buffered)
}

// Ssend returns when the message has been received.
func (c *lockedComm) Ssend(buf []byte, dst, tag int) error {
	return c.send("Ssend", buf, dst, tag, false)
}

func (c *lockedComm) send(op string, buf []byte, dst, tag int, buffered bool) error {
	if err := c.check(op, len(buf), dst, tag); err != nil {
		return err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return c.fail(op, dst, tag, mpi.ErrAborted)
	}
	c.begin(buf, dst, tag)
	w.send(&c.op, c.group[c.rank], c.group[dst], buffered)
	if !w.wait(c.me, &c.op, op, dst, tag) {
		return c.fail(op, dst, tag, mpi.ErrAborted)
	}
	c.op.buf = nil
	return nil
}

func (c *lockedComm) Recv(buf []byte, src, tag int) error {
	if err := c.check("Recv", len(buf), src, tag); err != nil {
		return err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return c.fail("Recv", src, tag, mpi.ErrAborted)
	}
	c.begin(buf, src, tag)
	w.receive(&c.op, c.group[src], c.group[c.rank])
	if !w.wait(c.me, &c.op, "Recv", src, tag) {
		return c.fail("Recv", src, tag, mpi.ErrAborted)
	}
	c.op.buf = nil
	if err := lengthError(c.op.size, len(buf)); err != nil {
		return c.fail("Recv", src, tag, err)
	}
	return nil
}

// begin readies the transfer of a blocking operation. It is not in any list:
// the last one was done, or the world has ended.
func (c *lockedComm) begin(buf []byte, peer, tag int) {
	c.op = transfer{context: c.context, tag: tag, buf: buf, owner: c.me, rank: peer}
}

// Fail ends the world: Run returns the error.
func (c *lockedComm) Fail(err error) {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(c.failure(err))
}

// NewRequests returns an empty set of requests.
func (c *lockedComm) NewRequests() mpi.Requests { return &lockedRequests{comm: c} }

type lockedRequests struct {
	comm    *lockedComm
	pending []lockedRequest
	any     transfer // stands for any of them while the rank is in WaitAny
}

type lockedRequest struct {
	*transfer
	receives bool
	returned bool // by WaitAny
}

func (q *lockedRequests) Isend(buf []byte, dst, tag int) error {
	return q.begin("Isend", buf, dst, tag, false)
}

func (q *lockedRequests) Irecv(buf []byte, src, tag int) error {
	return q.begin("Irecv", buf, src, tag, true)
}

func (q *lockedRequests) begin(op string, buf []byte, peer, tag int, receives bool) error {
	c := q.comm
	if err := c.check(op, len(buf), peer, tag); err != nil {
		return err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return c.fail(op, peer, tag, mpi.ErrAborted)
	}
	t := w.newTransfer()
	t.context, t.tag, t.buf, t.owner, t.rank, t.set = c.context, tag, buf, c.me, peer, &q.any
	q.pending = append(q.pending, lockedRequest{transfer: t, receives: receives})
	self, other := c.group[c.rank], c.group[peer]
	if receives {
		w.receive(t, other, self)
	} else {
		w.send(t, self, other, w.mode == Buffered)
	}
	return nil
}

// Test lets other goroutines run if it is in vain.
func (q *lockedRequests) Test() (bool, error) {
	if !q.comm.isOpen {
		return true, q.comm.fail("Test", -1, -1, mpi.ErrClosed)
	}
	w := q.comm.world
	w.mu.Lock()
	if w.ended == nil && slices.ContainsFunc(q.pending, func(r lockedRequest) bool { return !r.done }) {
		w.mu.Unlock()
		runtime.Gosched()
		return false, nil
	}
	defer w.mu.Unlock()
	return true, q.finish("Test")
}

func (q *lockedRequests) WaitAll() error {
	if !q.comm.isOpen {
		return q.comm.fail("WaitAll", -1, -1, mpi.ErrClosed)
	}
	w := q.comm.world
	w.mu.Lock()
	defer w.mu.Unlock()
	return q.finish("WaitAll")
}

// WaitAny returns the lowest number of those that are complete.
func (q *lockedRequests) WaitAny() (int, error) {
	c := q.comm
	if !c.isOpen {
		return -1, c.fail("WaitAny", -1, -1, mpi.ErrClosed)
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		first := -1
		for i := range q.pending {
			r := &q.pending[i]
			if r.returned {
				continue
			}
			if r.done {
				r.returned = true
				return i, nil
			}
			if first < 0 {
				first = i
			}
		}
		if first < 0 {
			return -1, nil
		}
		r := q.pending[first]
		if w.ended != nil {
			return -1, c.fail("WaitAny", r.rank, r.tag, mpi.ErrAborted)
		}
		w.waitOnce(c.me, &q.any, "WaitAny", r.rank, r.tag)
	}
}

// finish waits for all transfers, and empties the set. The caller holds the lock.
func (q *lockedRequests) finish(op string) error {
	w := q.comm.world
	var first error
	for i, r := range q.pending {
		var err error
		if !w.wait(q.comm.me, r.transfer, op, r.rank, r.tag) {
			err = mpi.ErrAborted
		} else if r.receives {
			err = lengthError(r.size, len(r.buf))
		}
		if err != nil && first == nil {
			first = q.comm.fail(op, r.rank, r.tag, err)
		}
		if r.done { // otherwise it may still be in a list
			w.release(r.transfer)
		}
		q.pending[i].transfer = nil
	}
	q.pending = q.pending[:0]
	return first
}

// Bcast copies the root's buffer straight into everybody's.
func (c *lockedComm) Bcast(buf []byte, root int) error {
	if err := c.checkCollective("Bcast", len(buf), root); err != nil {
		return err
	}
	w, g := c.world, c.shared
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return c.fail("Bcast", root, -1, mpi.ErrAborted)
	}
	if g.shown == nil {
		g.shown = make([]shown, len(g.comms))
	}
	c.broadcasts++
	c.begin(buf, root, -1)
	s := &g.shown[root]
	if c.rank == root {
		*s = shown{number: c.broadcasts, left: len(g.comms) - 1, op: &c.op}
		for _, other := range g.comms {
			if other.me.waitFor == &other.op && other.op.rank == root && other.op.tag == -1 {
				w.poke(&other.op)
			}
		}
		c.op.done = s.left == 0
		if !w.wait(c.me, &c.op, "Bcast", root, -1) {
			return c.fail("Bcast", root, -1, mpi.ErrAborted)
		}
		return nil
	}
	for s.number != c.broadcasts {
		if w.ended != nil {
			return c.fail("Bcast", root, -1, mpi.ErrAborted)
		}
		w.waitOnce(c.me, &c.op, "Bcast", root, -1)
	}
	if w.ended != nil {
		return c.fail("Bcast", root, -1, mpi.ErrAborted)
	}
	from := s.op
	w.copyWith(&c.op, from)
	if s.left--; s.left == 0 {
		from.done = true
	}
	w.poke(from) // done, or the end of the world waits for the copy
	if err := lengthError(c.op.size, len(buf)); err != nil {
		return c.fail("Bcast", root, -1, err)
	}
	return nil
}

// Split makes the communicators of all ranks when the last one has called it.
func (c *lockedComm) Split(color, key int) (mpi.Communicator, error) {
	const op = "Split"
	if err := c.checkCollective(op, 0, c.rank); err != nil {
		return nil, err
	}
	w, g := c.world, c.shared
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return nil, c.fail(op, -1, -1, mpi.ErrAborted)
	}
	c.color, c.key, c.part = color, key, nil
	c.begin(nil, -1, -1)
	if g.arrived++; g.arrived == len(g.comms) {
		g.arrived = 0
		colors, keys := make([]int, len(g.comms)), make([]int, len(g.comms))
		for rank, other := range g.comms {
			colors[rank], keys[rank] = other.color, other.key
		}
		for _, p := range splitParts(colors, keys, c.group) {
			for rank, part := range w.newComms(c.host, p.group) {
				g.comms[p.members[rank]].part = part
			}
		}
		for _, other := range g.comms {
			w.finish(&other.op)
		}
	}
	if !w.wait(c.me, &c.op, op, -1, -1) {
		return nil, c.fail(op, -1, -1, mpi.ErrAborted)
	}
	if c.part == nil {
		return nil, nil
	}
	return c.part, nil
}
