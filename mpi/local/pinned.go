package local

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A pinnedWorld shares atomics only.
type pinnedWorld struct {
	job
	cores   []int // rank -> core; nil when the ranks outnumber the cores
	rings   []atomic.Pointer[ring]
	engines []*engine
	left    []atomic.Bool // ranks that have returned
}

func newPinnedWorld(n int, host string, cores []int) (*pinnedWorld, error) {
	if !canPin {
		return nil, fmt.Errorf("not available on %s: threads cannot be bound to cores", runtime.GOOS)
	}
	allowed, err := allowedCores()
	if err != nil {
		return nil, err
	}
	for i, c := range cores {
		if !slices.Contains(allowed, c) {
			return nil, fmt.Errorf("Settings.Cores: %d: want one of the allowed %d", c, allowed)
		}
		if slices.Contains(cores[:i], c) {
			return nil, fmt.Errorf("Settings.Cores: %d: given twice", c)
		}
	}
	if cores == nil {
		cores = allowed
	}
	w := &pinnedWorld{rings: make([]atomic.Pointer[ring], n*n), left: make([]atomic.Bool, n)}
	w.init(host, allowed)
	if n <= len(cores) && n <= runtime.GOMAXPROCS(0) {
		w.cores = slices.Clone(cores[:n])
	}
	for rank := range n {
		e := newEngine(w, rank)
		w.engines, w.movers = append(w.engines, e), append(w.movers, e)
	}
	w.makeWorld()
	return w, nil
}

func (w *pinnedWorld) enter(rank int) (mpi.Communicator, error) {
	if w.cores != nil {
		if err := pin(w.cores[rank]); err != nil {
			return nil, err
		}
	}
	return w.all[rank], nil
}

func (w *pinnedWorld) leave(rank int) { w.left[rank].Store(true) }

func (w *pinnedWorld) abort(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setEnd(cause)
}

// ring returns the ring from src to dst, which the first user makes.
func (w *pinnedWorld) ring(src, dst int) *ring {
	p := &w.rings[src*len(w.left)+dst]
	r := p.Load()
	if r == nil {
		r = new(ring)
		r.limit = ringSlots
		if !p.CompareAndSwap(nil, r) {
			r = p.Load()
		}
	}
	return r
}

// returned counts the ranks of a group that have returned.
func (w *pinnedWorld) returned(group []int) int {
	count := 0
	for _, rank := range group {
		if w.left[rank].Load() {
			count++
		}
	}
	return count
}

// A pinnedComm is the communicator of mode Pinned, which has times to measure.
type pinnedComm struct {
	*comm
	engine  *engine
	scratch []byte // of PingPong
}

var _ interface {
	mpi.Communicator
	mpi.Timed
	mpi.NonBlocking
	io.Closer
} = (*pinnedComm)(nil)

func (e *engine) communicator(c *comm) mpi.Communicator { return &pinnedComm{comm: c, engine: e} }

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
				err = e.sendTo(other, address, buf, false)
			}
			if err == nil {
				err = e.recvFrom(other, address, buf)
			}
			if err == nil && !first {
				err = e.sendTo(other, address, buf, false)
			}
			if err != nil {
				return c.fail("PingPong", peer, tag, err)
			}
		}
		samples[i] = time.Since(start).Seconds()
	}
	return nil
}

// CallCosts are 0: there is nothing below Go.
func (c *pinnedComm) CallCosts() (call, loop float64) { return 0, 0 }

// The functions below make an engine a mover.

func (e *engine) send(c *comm, _ string, buf []byte, dst, tag int, synchronous bool) error {
	if e.world.hasEnded.Load() {
		return mpi.ErrAborted
	}
	return e.sendTo(c.group[dst], c.address(tag), buf, synchronous)
}

func (e *engine) recv(c *comm, buf []byte, src, tag int) error {
	if e.world.hasEnded.Load() {
		return mpi.ErrAborted
	}
	return e.recvFrom(c.group[src], c.address(tag), buf)
}

func (e *engine) begin(q *requests, buf []byte, peer, tag int, receives bool) (*transfer, error) {
	if e.world.hasEnded.Load() {
		return nil, mpi.ErrAborted
	}
	return e.start(q.comm.group[peer], q.comm.address(tag), buf, receives, false), nil
}

func (e *engine) finish(_ string, r request) error { return e.complete(r.transfer) }

func (e *engine) rest() {
	if e.world.cores == nil {
		runtime.Gosched()
	}
}

// waitAny ends the world if the peer has returned: each transfer of a set has to come.
func (e *engine) waitAny(q *requests, r request) bool { return e.pause(&q.patience, r.other) }

// await moves messages under way meanwhile. It ends the world if a rank has returned without which the counter
// cannot get there.
func (e *engine) await(c *comm, _ string, root int, counter *atomic.Int64, value int64) bool {
	var p patience
	for counter.Load() != value {
		e.advance()
		if !e.pause(&p, -1) {
			return counter.Load() == value
		}
		if (p.looks%256 == 0 || e.world.cores == nil) && e.isHopeless(c, root, counter) && counter.Load() != value {
			e.end(fmt.Errorf("local: %w: rank %d waits in a collective operation for ranks that have returned", ErrDeadlock, e.rank))
		}
	}
	return true
}

// isHopeless tells whether a rank has returned that would have to do its part first.
func (e *engine) isHopeless(c *comm, root int, counter *atomic.Int64) bool {
	switch root {
	case -1: // all have to come
		return e.world.returned(c.group) > 0
	case c.rank:
		// The counter is the number of ranks that have yet to copy. Some of them have returned if fewer go on,
		// counted in this order: a rank that copies and returns in between is in neither number.
		goOn := len(c.group) - 1 - e.world.returned(c.group)
		return counter.Load() > int64(goOn)
	}
	return e.world.left[c.group[root]].Load()
}

func (e *engine) wake([]int) {} // all that wait look by themselves

func (e *engine) end(cause error) { e.world.abort(cause) }

func (e *engine) core() int {
	if e.world.cores == nil {
		return -1
	}
	return e.world.cores[e.rank]
}
