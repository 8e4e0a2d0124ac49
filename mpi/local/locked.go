package local

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A lockedWorld holds all state of the modes Buffered and Rendezvous under one
// lock. Data are copied outside of it.
type lockedWorld struct {
	mode  Mode
	start time.Time
	cpus  []int // that the process may use; nil: not known

	mu       sync.Mutex
	ranks    []rankState
	alive    int   // ranks that have not returned
	blocked  int   // ranks that wait and have not been made ready
	ended    error // what ended the world
	contexts int   // number of communicators made
	free     *transfer
	comms    []*lockedComm // of the whole world
}

// rankState is the lock's side of one rank.
type rankState struct {
	wake    sync.Cond
	waitFor *transfer // nil: running, or made ready
	doing   string    // for the report of a deadlock
	peer    int
	tag     int
	from    []*queue // by source; nil until used
}

// A queue holds what is not yet matched between one source and one
// destination: messages, or receives; never both of one context and tag.
type queue struct {
	messages list
	receives list
}

// A transfer is one side of a message: a send or a receive.
type transfer struct {
	next    *transfer
	context int
	tag     int
	buf     []byte     // sender's data, or receiver's buffer
	storage []byte     // holds the data of a buffered message
	owner   *rankState // who waits for it; nil for a buffered message
	size    int        // of the message that a receive got
	copying int        // ranks that copy from or to buf at this moment
	done    bool
	rank    int       // the peer, for errors
	set     *transfer // stands for any of the set; nil: it is in none
}

// A list is a queue of transfers with one owner of its links.
type list struct{ head, tail *transfer }

func (l *list) add(t *transfer) {
	t.next = nil
	if l.tail == nil {
		l.head = t
	} else {
		l.tail.next = t
	}
	l.tail = t
}

// take removes and returns the first transfer of a context and tag, or nil.
func (l *list) take(context, tag int) *transfer {
	var before *transfer
	for t := l.head; t != nil; before, t = t, t.next {
		if t.context != context || t.tag != tag {
			continue
		}
		if before == nil {
			l.head = t.next
		} else {
			before.next = t.next
		}
		if l.tail == t {
			l.tail = before
		}
		t.next = nil
		return t
	}
	return nil
}

func newLockedWorld(n int, host string, mode Mode) *lockedWorld {
	w := &lockedWorld{mode: mode, start: time.Now(), ranks: make([]rankState, n), alive: n}
	group := make([]int, n)
	for i := range group {
		group[i] = i
		w.ranks[i].wake.L = &w.mu
	}
	w.cpus, _ = allowedCores() // messages do not depend on it
	w.comms = w.newComms(host, group)
	return w
}

func (w *lockedWorld) enter(rank int) (mpi.Communicator, error) { return w.comms[rank], nil }

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

func (w *lockedWorld) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// end wakes everybody up. The caller holds the lock, here and below.
func (w *lockedWorld) end(cause error) {
	if w.ended != nil {
		return
	}
	w.ended = cause
	for i := range w.ranks {
		if r := &w.ranks[i]; r.waitFor != nil {
			r.waitFor = nil
			w.blocked--
			r.wake.Signal()
		}
	}
}

// findDeadlock ends the world if nobody is left who could wake anybody up.
func (w *lockedWorld) findDeadlock() {
	if w.ended != nil || w.alive == 0 || w.blocked < w.alive {
		return
	}
	var text strings.Builder
	listed := 0
	for rank := range w.ranks {
		r := &w.ranks[rank]
		if r.waitFor == nil {
			continue
		}
		if listed == 8 {
			fmt.Fprintf(&text, ", and %d more", w.blocked-listed)
			break
		}
		if listed > 0 {
			text.WriteString(", ")
		}
		listed++
		fmt.Fprintf(&text, "rank %d in %s", rank, r.doing)
		if r.peer >= 0 {
			fmt.Fprintf(&text, " with rank %d", r.peer)
		}
		if r.tag >= 0 {
			fmt.Fprintf(&text, ", tag %d", r.tag)
		}
	}
	w.end(fmt.Errorf("local: %w: %s", ErrDeadlock, text.String()))
}

// wait blocks until t is done, or the world has ended and nobody copies from
// or to its buffer any more. It tells whether t is done.
func (w *lockedWorld) wait(r *rankState, t *transfer, doing string, peer, tag int) bool {
	for !t.done && (w.ended == nil || t.copying > 0) {
		w.waitOnce(r, t, doing, peer, tag)
	}
	return t.done
}

// waitOnce blocks until somebody pokes t, or the world ends.
func (w *lockedWorld) waitOnce(r *rankState, t *transfer, doing string, peer, tag int) {
	r.waitFor, r.doing, r.peer, r.tag = t, doing, peer, tag
	w.blocked++
	w.findDeadlock()
	for r.waitFor != nil {
		r.wake.Wait()
	}
}

// poke lets the rank look again that waits for t, or for any of the set of t.
func (w *lockedWorld) poke(t *transfer) {
	if f := t.owner.waitFor; f != nil && (f == t || f == t.set) {
		t.owner.waitFor = nil
		w.blocked--
		t.owner.wake.Signal()
	}
}

func (w *lockedWorld) finish(t *transfer) {
	t.done = true
	w.poke(t)
}

// newTransfer takes a transfer from the free list; release puts it back.
func (w *lockedWorld) newTransfer() *transfer {
	t := w.free
	if t == nil {
		return new(transfer)
	}
	w.free, t.next = t.next, nil
	return t
}

func (w *lockedWorld) release(t *transfer) {
	const keep = 64 << 10 // larger storage is left to the garbage collector
	storage := t.storage
	if cap(storage) > keep {
		storage = nil
	}
	*t = transfer{storage: storage[:0], next: w.free}
	w.free = t
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

// copyWith copies a message to its receive without the lock. Both sides stay
// in place until it is done.
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

// send starts to send t, whose owner sends, to world rank dst.
func (w *lockedWorld) send(t *transfer, src, dst int, buffered bool) {
	q := w.queue(src, dst)
	switch p := q.receives.take(t.context, t.tag); {
	case p != nil:
		w.copyWith(p, t)
		w.finish(p)
		t.done = true
	case buffered:
		m := w.newTransfer()
		m.context, m.tag = t.context, t.tag
		m.storage = append(m.storage[:0], t.buf...)
		m.buf = m.storage
		q.messages.add(m)
		t.done = true
	default:
		q.messages.add(t)
	}
}

// receive starts to receive t from world rank src.
func (w *lockedWorld) receive(t *transfer, src, dst int) {
	q := w.queue(src, dst)
	m := q.messages.take(t.context, t.tag)
	if m == nil {
		q.receives.add(t)
		return
	}
	w.copyWith(t, m)
	t.done = true
	if m.owner == nil {
		w.release(m)
	} else {
		w.finish(m)
	}
}
