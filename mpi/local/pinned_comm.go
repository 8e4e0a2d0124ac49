package local

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A pinnedComm is the communicator of mode Pinned.
type pinnedComm struct {
	endpoint
	world  *pinnedWorld
	engine *engine
	shared *pinnedGroup

	broadcasts uint64 // number of broadcasts begun
	splits     uint64 // number of Splits begun
	color, key int    // of the Split under way
	part       *pinnedComm
	scratch    []byte // of PingPong
}

// A pinnedGroup is what the ranks of one communicator share.
type pinnedGroup struct {
	comms []*pinnedComm // by rank
	shown []pinnedShown // by root

	mu      sync.Mutex
	arrived int           // ranks that have called the Split under way
	done    atomic.Uint64 // number of Splits done
}

// pinnedShown is the buffer that a root shows to those who copy it. A root
// blocks in its broadcast, so it never shows two.
type pinnedShown struct {
	number  atomic.Uint64 // of the broadcast, from 1
	left    atomic.Int64  // ranks that have not copied it
	readers atomic.Int64  // ranks that are copying
	buf     []byte
}

var (
	_ mpi.Communicator = (*pinnedComm)(nil)
	_ mpi.SyncSender   = (*pinnedComm)(nil)
	_ mpi.NonBlocking  = (*pinnedComm)(nil)
	_ mpi.Clock        = (*pinnedComm)(nil)
	_ mpi.Placed       = (*pinnedComm)(nil)
	_ mpi.Timed        = (*pinnedComm)(nil)
	_ mpi.Splitter     = (*pinnedComm)(nil)
	_ mpi.NativeBcast  = (*pinnedComm)(nil)
	_ mpi.Failer       = (*pinnedComm)(nil)
)

func (w *pinnedWorld) newComms(group []int) []*pinnedComm {
	shared := &pinnedGroup{comms: make([]*pinnedComm, len(group)), shown: make([]pinnedShown, len(group))}
	context := int(w.contexts.Add(1))
	for rank := range group {
		shared.comms[rank] = &pinnedComm{
			endpoint: endpoint{rank: rank, group: group, context: context, host: w.host, isOpen: true},
			world:    w,
			engine:   w.engines[group[rank]],
			shared:   shared,
		}
	}
	return shared.comms
}

// Place is the logical CPU to which the rank is bound. Where ranks outnumber the cores, none is bound, and each
// may run on all CPUs of the process.
func (c *pinnedComm) Place() mpi.Place {
	if c.world.cores == nil {
		return mpi.Place{Host: c.host, Core: -1, CPUs: c.world.cpus}
	}
	core := c.world.cores[c.group[c.rank]]
	return mpi.Place{Host: c.host, Core: core, CPUs: []int{core}}
}

// Now is the time since the world's start in s.
func (c *pinnedComm) Now() float64 { return time.Since(c.world.start).Seconds() }

// address puts context and tag into one word. MaxTag takes 15 bits.
func (c *pinnedComm) address(tag int) uint64 { return uint64(c.context)<<15 | uint64(tag) }

func (c *pinnedComm) Send(buf []byte, dst, tag int) error {
	return c.send("Send", buf, dst, tag, false)
}

// Ssend returns when the message has been received.
func (c *pinnedComm) Ssend(buf []byte, dst, tag int) error {
	return c.send("Ssend", buf, dst, tag, true)
}

func (c *pinnedComm) send(op string, buf []byte, dst, tag int, sync bool) error {
	if err := c.check(op, len(buf), dst, tag); err != nil {
		return err
	}
	if c.world.aborted.Load() {
		return c.fail(op, dst, tag, mpi.ErrAborted)
	}
	if err := c.engine.send(c.address(tag), buf, c.group[dst], sync); err != nil {
		return c.fail(op, dst, tag, err)
	}
	return nil
}

func (c *pinnedComm) Recv(buf []byte, src, tag int) error {
	if err := c.check("Recv", len(buf), src, tag); err != nil {
		return err
	}
	if c.world.aborted.Load() {
		return c.fail("Recv", src, tag, mpi.ErrAborted)
	}
	if err := c.engine.recv(c.address(tag), buf, c.group[src]); err != nil {
		return c.fail("Recv", src, tag, err)
	}
	return nil
}

// PingPong times round trips without the checks of Send and Recv in between.
func (c *pinnedComm) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	if err := c.check("PingPong", size, peer, tag); err != nil {
		return err
	}
	if iters < 1 {
		return c.fail("PingPong", peer, tag, fmt.Errorf("%d round trips: want at least 1", iters))
	}
	if cap(c.scratch) < size {
		c.scratch = make([]byte, size)
	}
	buf := c.scratch[:size]
	address, other, e := c.address(tag), c.group[peer], c.engine
	for i := range samples {
		var err error
		start := time.Now()
		for range iters {
			if first {
				err = e.send(address, buf, other, false)
			}
			if err == nil {
				err = e.recv(address, buf, other)
			}
			if err == nil && !first {
				err = e.send(address, buf, other, false)
			}
			if err != nil {
				return c.fail("PingPong", peer, tag, err)
			}
		}
		samples[i] = time.Since(start).Seconds()
	}
	return nil
}

// Fail ends the world: Run returns the error.
func (c *pinnedComm) Fail(err error) { c.world.abort(c.failure(err)) }

// NewRequests returns an empty set of requests.
func (c *pinnedComm) NewRequests() mpi.Requests { return &pinnedRequests{comm: c} }

type pinnedRequests struct {
	comm    *pinnedComm
	pending []pinnedRequest
}

type pinnedRequest struct {
	*pinnedTransfer
	rank, tag int  // for errors
	isTold    bool // WaitAny has returned it
}

func (q *pinnedRequests) Isend(buf []byte, dst, tag int) error {
	return q.begin("Isend", buf, dst, tag, false)
}

func (q *pinnedRequests) Irecv(buf []byte, src, tag int) error {
	return q.begin("Irecv", buf, src, tag, true)
}

func (q *pinnedRequests) begin(op string, buf []byte, peer, tag int, receives bool) error {
	c := q.comm
	if err := c.check(op, len(buf), peer, tag); err != nil {
		return err
	}
	if c.world.aborted.Load() {
		return c.fail(op, peer, tag, mpi.ErrAborted)
	}
	t := c.engine.begin(c.address(tag), buf, c.group[peer], receives, false)
	q.pending = append(q.pending, pinnedRequest{pinnedTransfer: t, rank: peer, tag: tag})
	return nil
}

func (q *pinnedRequests) WaitAll() error {
	return q.finish("WaitAll")
}

// Test lets other goroutines run if it is in vain and ranks share cores.
func (q *pinnedRequests) Test() (bool, error) {
	c := q.comm
	if c.isOpen && !c.world.aborted.Load() {
		c.engine.step()
		for _, r := range q.pending {
			if !c.engine.isDone(r.pinnedTransfer) {
				if c.world.cores == nil {
					runtime.Gosched()
				}
				return false, nil
			}
		}
	}
	return true, q.finish("Test")
}

// finish waits for all transfers, and empties the set.
func (q *pinnedRequests) finish(op string) error {
	if !q.comm.isOpen {
		return q.comm.fail(op, -1, -1, mpi.ErrClosed)
	}
	var first error
	for i, r := range q.pending {
		if err := q.comm.engine.finish(r.pinnedTransfer); err != nil && first == nil {
			first = q.comm.fail(op, r.rank, r.tag, err)
		}
		q.pending[i].pinnedTransfer = nil
	}
	q.pending = q.pending[:0]
	return first
}

// WaitAny finds the lowest of those that are complete.
func (q *pinnedRequests) WaitAny() (int, error) {
	c := q.comm
	if !c.isOpen {
		return -1, c.fail("WaitAny", -1, -1, mpi.ErrClosed)
	}
	var p patience
	for {
		first := -1
		c.engine.step()
		for i := range q.pending {
			r := &q.pending[i]
			if r.isTold {
				continue
			}
			if c.engine.isDone(r.pinnedTransfer) {
				r.isTold = true
				return i, nil
			}
			if first < 0 {
				first = i
			}
		}
		if first < 0 {
			return -1, nil
		}
		// Each has to come: one that cannot is the end of the world.
		if r := q.pending[first]; !c.engine.pause(&p, r.peer) {
			return -1, c.fail("WaitAny", r.rank, r.tag, mpi.ErrAborted)
		}
	}
}

// Bcast copies the root's buffer straight into everybody's.
func (c *pinnedComm) Bcast(buf []byte, root int) error {
	if err := c.checkCollective("Bcast", len(buf), root); err != nil {
		return err
	}
	if c.world.aborted.Load() {
		return c.fail("Bcast", root, -1, mpi.ErrAborted)
	}
	c.broadcasts++
	s := &c.shared.shown[root]
	if c.rank == root {
		s.buf = buf
		s.left.Store(int64(len(c.group) - 1))
		s.number.Store(c.broadcasts)
		// That somebody has returned without the copy shows when fewer go on than
		// have yet to copy, counted in this order: whoever copies and returns in
		// between is in neither number.
		isOver := c.waitFor(func() bool { return s.left.Load() == 0 }, func() bool {
			goOn := len(c.group) - 1 - c.returned()
			return int(s.left.Load()) > goOn
		})
		if !isOver {
			// Readers see the world's end before they start, or are seen here.
			for s.readers.Load() > 0 {
				runtime.Gosched()
			}
			return c.fail("Bcast", root, -1, mpi.ErrAborted)
		}
		s.buf = nil
		return nil
	}
	if !c.waitFor(func() bool { return s.number.Load() == c.broadcasts },
		func() bool { return c.world.left[c.group[root]].Load() }) {
		return c.fail("Bcast", root, -1, mpi.ErrAborted)
	}
	s.readers.Add(1)
	if c.world.aborted.Load() {
		s.readers.Add(-1)
		return c.fail("Bcast", root, -1, mpi.ErrAborted)
	}
	size := len(s.buf)
	copy(buf, s.buf)
	s.readers.Add(-1)
	s.left.Add(-1)
	if err := lengthError(size, len(buf)); err != nil {
		return c.fail("Bcast", root, -1, err)
	}
	return nil
}

// waitFor waits for a condition and moves the messages under way meanwhile. It
// tells whether the condition holds; if not, the world has ended: it does so here
// when the condition does not hold although those have returned without whom,
// as isHopeless knows, it never will.
func (c *pinnedComm) waitFor(holds, isHopeless func() bool) bool {
	var p patience
	for !holds() {
		c.engine.step()
		if !c.engine.pause(&p, -1) {
			return holds()
		}
		if (p.looks%256 == 0 || c.world.cores == nil) && isHopeless() && !holds() {
			c.world.abort(fmt.Errorf("local: %w: rank %d waits in a collective operation for ranks that have returned", ErrDeadlock, c.group[c.rank]))
		}
	}
	return true
}

// returned counts the ranks of the communicator that have returned.
func (c *pinnedComm) returned() int {
	count := 0
	for _, rank := range c.group {
		if c.world.left[rank].Load() {
			count++
		}
	}
	return count
}

// Split makes the communicators of all ranks when the last one has called it.
func (c *pinnedComm) Split(color, key int) (mpi.Communicator, error) {
	const op = "Split"
	if err := c.checkCollective(op, 0, c.rank); err != nil {
		return nil, err
	}
	if c.world.aborted.Load() {
		return nil, c.fail(op, -1, -1, mpi.ErrAborted)
	}
	g := c.shared
	c.color, c.key, c.part = color, key, nil
	c.splits++
	g.mu.Lock()
	if g.arrived++; g.arrived == len(g.comms) {
		g.arrived = 0
		colors, keys := make([]int, len(g.comms)), make([]int, len(g.comms))
		for rank, other := range g.comms {
			colors[rank], keys[rank] = other.color, other.key
		}
		for _, p := range splitParts(colors, keys, c.group) {
			for rank, part := range c.world.newComms(p.group) {
				g.comms[p.members[rank]].part = part
			}
		}
		g.done.Add(1)
	}
	g.mu.Unlock()
	if !c.waitFor(func() bool { return g.done.Load() == c.splits }, func() bool { return c.returned() > 0 }) {
		return nil, c.fail(op, -1, -1, mpi.ErrAborted)
	}
	if c.part == nil {
		return nil, nil
	}
	return c.part, nil
}

// CallCosts are 0: there is nothing below Go.
func (c *pinnedComm) CallCosts() (call, loop float64) { return 0, 0 }
