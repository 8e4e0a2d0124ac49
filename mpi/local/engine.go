package local

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// An engine is the mover of one rank in mode Pinned. It belongs to the rank's goroutine; others touch only its rings
// and its long sends. It works while the rank is inside an operation, as MPI libraries do.
//
// A blocking operation takes the fast path if nothing else is under way: it writes to the ring, or polls the ring,
// by itself. All other operations are transfers, which advance moves on.
type engine struct {
	world *pinnedWorld
	rank  int
	sends []*longSend
	users []*transfer // by index of send; nil: free, or of a blocking send
	spare []int       // indices of free sends

	outgoing []*transfer // sends that found no room, in order
	incoming []*incoming // by source; nil until used
	sources  []int       // sources with posted receives
	pool     pool
}

// incoming is what is not yet matched from one source.
type incoming struct {
	ring     *ring
	receives list // posted, in order
	messages list // taken from the ring before the rank asked for them, in order
}

func newEngine(w *pinnedWorld, rank int) *engine {
	e := &engine{world: w, rank: rank, users: make([]*transfer, rankSends)}
	for i := range rankSends {
		e.sends = append(e.sends, new(longSend))
		e.spare = append(e.spare, rankSends-1-i)
	}
	return e
}

// idle tells whether nothing but the operation at hand is under way.
func (e *engine) idle() bool { return len(e.outgoing) == 0 && len(e.sources) == 0 }

// patience is what a wait keeps from look to look.
type patience struct {
	looks uint
	gone  bool // the peer had returned before the last look
}

// pause is called after each look in vain of a wait. peer is the rank of the world that is waited for, -1 if there are
// several. pause tells whether to look again. It ends the world if the peer had returned before the look.
//
// A bound rank spins. After some 100 us another process must have got hold of the peer's core; the rank then lets
// other processes have its own core now and then.
func (e *engine) pause(p *patience, peer int) bool {
	p.looks++
	if e.world.cores == nil {
		runtime.Gosched()
	} else if p.looks%256 != 0 {
		return true
	} else if p.looks > 1<<16 && p.looks%4096 == 0 {
		yieldThread()
	}
	if peer >= 0 && e.world.left[peer].Load() {
		if p.gone {
			e.world.abort(fmt.Errorf("local: %w: rank %d waits for rank %d, which has returned", ErrDeadlock, e.rank, peer))
		}
		p.gone = true
	}
	return !e.world.hasEnded.Load()
}

// advance does what can be done without waiting.
func (e *engine) advance() {
	if len(e.outgoing) > 0 {
		e.push()
	}
	for i := 0; i < len(e.sources); {
		if e.pull(e.sources[i]); e.incoming[e.sources[i]].receives.head == nil {
			e.sources[i] = e.sources[len(e.sources)-1]
			e.sources = e.sources[:len(e.sources)-1]
		} else {
			i++
		}
	}
}

// push starts waiting sends. One that finds no room holds up those behind it
// that go to the same rank.
func (e *engine) push() {
	kept := e.outgoing[:0]
	for _, t := range e.outgoing {
		stuck := slices.ContainsFunc(kept, func(k *transfer) bool { return k.other == t.other })
		if stuck || !e.put(t) {
			kept = append(kept, t)
		}
	}
	clear(e.outgoing[len(kept):])
	e.outgoing = kept
}

// put puts a send into the ring. It tells whether there was room.
func (e *engine) put(t *transfer) bool {
	r := e.world.ring(e.rank, t.other)
	if !r.hasRoom() {
		return false
	}
	if len(t.buf) <= slotData && !t.synchronous {
		r.putShort(t.address, t.buf)
		t.done = true
		return true
	}
	send, ok := e.offer(t.buf)
	if !ok {
		return false
	}
	t.send = send
	e.users[send] = t
	r.putLong(t.address, len(t.buf), send)
	return true
}

// offer readies a long send, if one is free or has been received by now.
func (e *engine) offer(buf []byte) (index int, ok bool) {
	if len(e.spare) == 0 {
		for i, t := range e.users {
			if t != nil && e.sends[i].state.Load() == sendDone {
				t.done = true
				e.retire(i)
			}
		}
		if len(e.spare) == 0 {
			return 0, false
		}
	}
	index = e.spare[len(e.spare)-1]
	e.spare = e.spare[:len(e.spare)-1]
	s := e.sends[index]
	s.buf = buf
	s.state.Store(sendWaiting)
	return index, true
}

// retire frees a long send that is done.
func (e *engine) retire(index int) {
	if t := e.users[index]; t != nil {
		t.send = -1
		e.users[index] = nil
	}
	e.sends[index].buf = nil
	e.spare = append(e.spare, index)
}

func (e *engine) from(src int) *incoming {
	if e.incoming == nil {
		e.incoming = make([]*incoming, len(e.world.left))
	}
	in := e.incoming[src]
	if in == nil {
		in = &incoming{ring: e.world.ring(src, e.rank)}
		e.incoming[src] = in
	}
	return in
}

// pull takes the messages out of a ring: to the receives that wait for them,
// or to the early messages.
func (e *engine) pull(src int) {
	in := e.incoming[src]
	for in.receives.head != nil {
		s := in.ring.front()
		if s == nil {
			return
		}
		if t := in.receives.take(s.address); t != nil {
			if !e.deliver(t, src, s) {
				return
			}
		} else {
			e.keep(in, src, s)
		}
		in.ring.drop()
	}
}

// deliver copies a message to its receive. It fails if the world has ended.
func (e *engine) deliver(t *transfer, src int, s *slot) bool {
	t.size = int(s.size)
	if s.send == 0 {
		copy(t.buf, s.data[:s.size])
	} else if !e.world.engines[src].sends[s.send-1].copyTo(t.buf) {
		return false
	}
	t.done = true
	return true
}

// keep moves a message that the rank has not asked for out of the ring.
func (e *engine) keep(in *incoming, src int, s *slot) {
	m := e.pool.get()
	m.address, m.size = s.address, int(s.size)
	if s.send == 0 {
		m.storage = append(m.storage[:0], s.data[:s.size]...)
	} else {
		m.long = e.world.engines[src].sends[s.send-1]
	}
	in.messages.add(m)
}

// receive starts a receive: from the messages that have come early, or by posting it.
func (e *engine) receive(t *transfer) {
	in := e.from(t.other)
	m := in.messages.take(t.address)
	if m == nil {
		if in.receives.head == nil {
			e.sources = append(e.sources, t.other)
		}
		in.receives.add(t)
		return
	}
	t.size, t.done = m.size, true
	if m.long == nil {
		copy(t.buf, m.storage)
	} else {
		t.done = m.long.copyTo(t.buf) // not if the world has ended
	}
	e.pool.put(m)
}

// start starts a transfer. What cannot be done at once is left to advance.
func (e *engine) start(other int, address uint64, buf []byte, receives, synchronous bool) *transfer {
	t := e.pool.get()
	t.address, t.buf, t.other, t.receives, t.synchronous, t.send = address, buf, other, receives, synchronous, -1
	if receives {
		e.receive(t)
	} else {
		e.outgoing = append(e.outgoing, t)
		e.push()
	}
	return t
}

// isDone tells whether a transfer is complete.
func (e *engine) isDone(t *transfer) bool {
	return t.done || t.send >= 0 && e.sends[t.send].state.Load() == sendDone
}

// complete waits for a transfer and takes it back.
func (e *engine) complete(t *transfer) error {
	var p patience
	for !e.isDone(t) {
		e.advance()
		if t.done {
			break
		}
		if !e.pause(&p, t.other) {
			if t.send >= 0 && e.sends[t.send].withdraw() {
				break
			}
			return mpi.ErrAborted // t stays in the lists of a dead world
		}
	}
	if t.send >= 0 {
		e.retire(t.send)
	}
	var err error
	if t.receives {
		err = lengthError(t.size, len(t.buf))
	}
	e.pool.put(t)
	return err
}

// sendTo is a blocking send to a rank of the world.
func (e *engine) sendTo(dst int, address uint64, buf []byte, synchronous bool) error {
	if !e.idle() {
		return e.complete(e.start(dst, address, buf, false, synchronous))
	}
	r := e.world.ring(e.rank, dst)
	var p patience
	for !r.hasRoom() {
		if !e.pause(&p, dst) {
			return mpi.ErrAborted
		}
	}
	if len(buf) <= slotData && !synchronous {
		r.putShort(address, buf)
		return nil
	}
	index, ok := e.offer(buf)
	if !ok {
		return e.complete(e.start(dst, address, buf, false, synchronous))
	}
	r.putLong(address, len(buf), index)
	s := e.sends[index]
	for s.state.Load() != sendDone {
		if !e.pause(&p, dst) && !s.withdraw() {
			return mpi.ErrAborted
		}
	}
	e.retire(index)
	return nil
}

// recvFrom is a blocking receive from a rank of the world.
func (e *engine) recvFrom(src int, address uint64, buf []byte) error {
	in := e.from(src)
	if !e.idle() || in.messages.head != nil {
		return e.complete(e.start(src, address, buf, true, false))
	}
	var p patience
	for {
		s := in.ring.front()
		switch {
		case s == nil:
			if !e.pause(&p, src) {
				return mpi.ErrAborted
			}
		case s.address != address:
			e.keep(in, src, s)
			in.ring.drop()
		default:
			size := int(s.size)
			if s.send == 0 {
				copy(buf, s.data[:size])
			} else if !e.world.engines[src].sends[s.send-1].copyTo(buf) {
				return mpi.ErrAborted
			}
			in.ring.drop()
			if size != len(buf) {
				return lengthError(size, len(buf))
			}
			return nil
		}
	}
}
