package local

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/topocast/topocast/mpi"
)

// A lockedWorld holds all state of the modes Buffered and Rendezvous under the lock of its job. Data are copied
// outside of the lock.
type lockedWorld struct {
	job
	mode    Mode
	ranks   []lockedRank
	alive   int // ranks that have not returned
	blocked int // ranks that wait and have not been woken
	pool    pool
}

// A lockedRank is the mover of one rank.
type lockedRank struct {
	world *lockedWorld
	rank  int
	op    transfer // of the blocking operation under way
	from  []*queue // by source; nil until used

	wakes   sync.Cond
	waitFor *transfer // nil: the rank runs, or has been woken
	doing   call
}

// A call is what a rank waits in, for the report of a deadlock.
type call struct {
	op        string
	peer, tag int // -1: none
}

// A queue holds what is not yet matched between one source and one destination: messages, or receives. It never
// holds both with one address.
type queue struct {
	messages list
	receives list
}

func newLockedWorld(n int, host string, mode Mode) *lockedWorld {
	w := &lockedWorld{mode: mode, ranks: make([]lockedRank, n), alive: n}
	cpus, _ := allowedCores() // messages do not depend on it
	w.init(host, cpus)
	for i := range w.ranks {
		r := &w.ranks[i]
		r.world, r.rank, r.wakes.L = w, i, &w.mu
		w.movers = append(w.movers, r)
	}
	w.makeWorld()
	return w
}

func (w *lockedWorld) enter(rank int) (mpi.Communicator, error) { return w.all[rank], nil }

func (w *lockedWorld) leave(int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alive--
	w.findDeadlock()
}

func (w *lockedWorld) abort(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(cause)
	w.alive--
}

// end ends the world and wakes all ranks. The caller holds the lock, here and in the functions of lockedWorld below.
func (w *lockedWorld) end(cause error) {
	if !w.setEnd(cause) {
		return
	}
	for i := range w.ranks {
		if r := &w.ranks[i]; r.waitFor != nil {
			r.goOn()
		}
	}
}

// findDeadlock ends the world if nobody is left who could wake a rank.
func (w *lockedWorld) findDeadlock() {
	if w.ended != nil || w.alive == 0 || w.blocked < w.alive {
		return
	}
	const most = 8
	var listed []string
	for rank := range w.ranks {
		r := &w.ranks[rank]
		if r.waitFor == nil {
			continue
		}
		if len(listed) == most {
			listed = append(listed, fmt.Sprintf("and %d more", w.blocked-most))
			break
		}
		text := fmt.Sprintf("rank %d in %s", rank, r.doing.op)
		if r.doing.peer >= 0 {
			text += fmt.Sprintf(" with rank %d", r.doing.peer)
		}
		if r.doing.tag >= 0 {
			text += fmt.Sprintf(", tag %d", r.doing.tag)
		}
		listed = append(listed, text)
	}
	w.end(fmt.Errorf("local: %w: %s", ErrDeadlock, strings.Join(listed, ", ")))
}

// wait blocks until t is done, or the world has ended and nobody copies from or to its buffer any more. It returns
// what went wrong.
func (r *lockedRank) wait(t *transfer, doing call) error {
	for !t.done && (r.world.ended == nil || t.copying > 0) {
		r.block(t, doing)
	}
	switch {
	case !t.done:
		return mpi.ErrAborted
	case t.receives:
		return lengthError(t.size, len(t.buf))
	}
	return nil
}

// block blocks until somebody wakes the rank because of t, or the world ends.
func (r *lockedRank) block(t *transfer, doing call) {
	r.waitFor, r.doing = t, doing
	r.world.blocked++
	r.world.findDeadlock()
	for r.waitFor != nil {
		r.wakes.Wait()
	}
}

// goOn wakes the rank, which is blocked.
func (r *lockedRank) goOn() {
	r.waitFor = nil
	r.world.blocked--
	r.wakes.Signal()
}

// finished marks a transfer as done, and wakes the rank that waits for it or for any of its set.
func (w *lockedWorld) finished(t *transfer) {
	t.done = true
	if f := t.owner.waitFor; f != nil && (f == t || f == t.set) {
		t.owner.goOn()
	}
}

func (w *lockedWorld) queue(src, dst int) *queue {
	r := &w.ranks[dst]
	if r.from == nil {
		r.from = make([]*queue, len(w.ranks))
	}
	if r.from[src] == nil {
		r.from[src] = new(queue)
	}
	return r.from[src]
}

// copyWith copies a message to its receive without the lock. Neither side goes on until it is done.
func (w *lockedWorld) copyWith(dst, src *transfer) {
	dst.copying++
	src.copying++
	w.mu.Unlock()
	copy(dst.buf, src.buf)
	w.mu.Lock()
	dst.copying--
	src.copying--
	dst.size = len(src.buf)
}

// start starts a transfer of the rank with another rank of the world.
func (r *lockedRank) start(t *transfer, other int, buffered bool) {
	w := r.world
	if t.receives {
		q := w.queue(other, r.rank)
		m := q.messages.take(t.address)
		if m == nil {
			q.receives.add(t)
			return
		}
		w.copyWith(t, m)
		t.done = true
		if m.owner == nil {
			w.pool.put(m)
		} else {
			w.finished(m)
		}
		return
	}
	q := w.queue(r.rank, other)
	switch receive := q.receives.take(t.address); {
	case receive != nil:
		w.copyWith(receive, t)
		w.finished(receive)
		t.done = true
	case buffered:
		m := w.pool.get()
		m.address = t.address
		m.storage = append(m.storage[:0], t.buf...)
		m.buf = m.storage
		q.messages.add(m)
		t.done = true
	default:
		q.messages.add(t)
	}
}

// perform is a blocking operation. Before it, op is in no list: the last operation was done, or the world has ended.
func (r *lockedRank) perform(t transfer, c *comm, doing call, buffered bool) error {
	w := r.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return mpi.ErrAborted
	}
	r.op = t
	r.op.address, r.op.owner = c.address(doing.tag), r
	r.start(&r.op, c.group[doing.peer], buffered)
	err := r.wait(&r.op, doing)
	if r.op.done {
		r.op.buf = nil
	}
	return err
}

func (r *lockedRank) send(c *comm, op string, buf []byte, dst, tag int, synchronous bool) error {
	return r.perform(transfer{buf: buf}, c, call{op, dst, tag}, r.world.mode == Buffered && !synchronous)
}

func (r *lockedRank) recv(c *comm, buf []byte, src, tag int) error {
	return r.perform(transfer{buf: buf, receives: true}, c, call{"Recv", src, tag}, false)
}

func (r *lockedRank) begin(q *requests, buf []byte, peer, tag int, receives bool) (*transfer, error) {
	w := r.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return nil, mpi.ErrAborted
	}
	t := w.pool.get()
	t.address, t.buf, t.receives, t.owner, t.set = q.comm.address(tag), buf, receives, r, &q.any
	r.start(t, q.comm.group[peer], w.mode == Buffered)
	return t, nil
}

func (r *lockedRank) finish(op string, q request) error {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	err := r.wait(q.transfer, call{op, q.peer, q.tag})
	if q.done { // otherwise it may still be in a list
		r.world.pool.put(q.transfer)
	}
	return err
}

func (r *lockedRank) advance() {} // whoever comes second moves a message

func (r *lockedRank) rest() { runtime.Gosched() }

func (r *lockedRank) isDone(t *transfer) bool {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	return t.done
}

func (r *lockedRank) waitAny(q *requests, first request) bool {
	w := r.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range q.pending {
		if !p.isTold && p.done {
			return true // since the rank has looked
		}
	}
	if w.ended == nil {
		r.block(&q.any, call{"WaitAny", first.peer, first.tag})
		return true
	}
	return false
}

func (r *lockedRank) await(_ *comm, op string, root int, counter *atomic.Int64, value int64) bool {
	w := r.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for counter.Load() != value {
		if w.ended != nil {
			return false
		}
		r.block(&r.op, call{op, root, -1})
	}
	return true
}

// wake wakes ranks that wait in a collective operation.
func (r *lockedRank) wake(worldRanks []int) {
	w := r.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, rank := range worldRanks {
		if other := &w.ranks[rank]; other.waitFor == &other.op && other.doing.tag < 0 {
			other.goOn()
		}
	}
}

func (r *lockedRank) end(cause error) {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	r.world.end(cause)
}

func (r *lockedRank) core() int { return -1 }

func (r *lockedRank) communicator(c *comm) mpi.Communicator { return c }
