package local

import (
	"fmt"
	"runtime"

	"github.com/topocast/topocast/mpi"
)

// An engine moves the messages of one rank in mode Pinned. It belongs to the
// rank's goroutine; others touch its rings and its long sends only. It works
// while the rank is inside an operation, as MPI libraries do.
type engine struct {
	world *pinnedWorld
	rank  int
	sends []*longSend
	users []*pinnedTransfer // by index of send; nil: free, or of a blocking send
	spare []int             // indices of free sends

	outgoing []*pinnedTransfer // sends that found no room, in order
	incoming []*incoming       // by source; nil until used
	sources  []int             // sources with posted receives
	free     *pinnedTransfer
	early    *earlyMessage // free ones
}

// incoming is what is not yet matched from one source.
type incoming struct {
	ring     *ring
	receives []*pinnedTransfer // posted, in order
	messages []*earlyMessage   // taken from the ring before anybody asked, in order
}

// A pinnedTransfer is a send or receive of a request set, or of a blocking
// operation that could not take the fast way.
type pinnedTransfer struct {
	next     *pinnedTransfer // in the free list
	address  uint64
	buf      []byte
	peer     int // world rank
	receives bool
	sync     bool // a send that has to wait for its receiver
	done     bool
	send     int // index of its long send, -1 if none
	size     int // of the message received
}

type earlyMessage struct {
	next    *earlyMessage
	address uint64
	size    int
	send    *longSend // nil: the message is in data
	data    [slotData]byte
}

func newEngine(w *pinnedWorld, rank int) *engine {
	e := &engine{world: w, rank: rank, users: make([]*pinnedTransfer, rankSends)}
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
	gone  bool // the peer had left before the last look
}

// pause is called once per empty look of a wait, for what one rank of the world
// can bring if peer is that, or -1. It tells whether to look again: not when the
// world has ended, and not when there was nothing although the peer had left
// before the look, which ends it. A bound rank spins; after some 100 us, when
// something else must have got hold of the peer's core, it lets other processes
// have its own now and then.
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
	return !e.world.aborted.Load()
}

// step does what can be done without waiting.
func (e *engine) step() {
	if len(e.outgoing) > 0 {
		e.push()
	}
	for i := 0; i < len(e.sources); {
		if e.pull(e.sources[i]); len(e.incoming[e.sources[i]].receives) == 0 {
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
		stuck := false
		for _, k := range kept {
			if k.peer == t.peer {
				stuck = true
				break
			}
		}
		if stuck || !e.start(t) {
			kept = append(kept, t)
		}
	}
	clear(e.outgoing[len(kept):])
	e.outgoing = kept
}

// start puts a send into the ring. It tells whether there was room.
func (e *engine) start(t *pinnedTransfer) bool {
	r := e.world.ring(e.rank, t.peer)
	if !r.hasRoom() {
		return false
	}
	if len(t.buf) <= slotData && !t.sync {
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
		e.incoming = make([]*incoming, e.world.n)
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
	for len(in.receives) > 0 {
		s := in.ring.front()
		if s == nil {
			return
		}
		if t := in.takeReceive(s.address); t != nil {
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
func (e *engine) deliver(t *pinnedTransfer, src int, s *slot) bool {
	t.size = int(s.size)
	if s.send == 0 {
		copy(t.buf, s.data[:s.size])
	} else if !e.world.engines[src].sends[s.send-1].copyTo(t.buf) {
		return false
	}
	t.done = true
	return true
}

// keep moves a message that nobody waits for out of the ring.
func (e *engine) keep(in *incoming, src int, s *slot) {
	m := e.early
	if m == nil {
		m = new(earlyMessage)
	} else {
		e.early = m.next
	}
	*m = earlyMessage{address: s.address, size: int(s.size)}
	if s.send == 0 {
		m.data = s.data
	} else {
		m.send = e.world.engines[src].sends[s.send-1]
	}
	in.messages = append(in.messages, m)
}

func (in *incoming) takeReceive(address uint64) *pinnedTransfer {
	for i, t := range in.receives {
		if t.address == address {
			copy(in.receives[i:], in.receives[i+1:])
			in.receives[len(in.receives)-1] = nil
			in.receives = in.receives[:len(in.receives)-1]
			return t
		}
	}
	return nil
}

// receive starts a receive: from the early messages, or by posting it.
func (e *engine) receive(t *pinnedTransfer) {
	in := e.from(t.peer)
	for i, m := range in.messages {
		if m.address != t.address {
			continue
		}
		t.size = m.size
		if m.send == nil {
			copy(t.buf, m.data[:m.size])
		} else if !m.send.copyTo(t.buf) {
			return // the world has ended; nobody waits for long
		}
		t.done = true
		copy(in.messages[i:], in.messages[i+1:])
		in.messages[len(in.messages)-1] = nil
		in.messages = in.messages[:len(in.messages)-1]
		m.send, m.next = nil, e.early
		e.early = m
		return
	}
	in.receives = append(in.receives, t)
	if len(in.receives) == 1 {
		e.sources = append(e.sources, t.peer)
	}
}

// begin starts a transfer; what cannot be started is left to step.
func (e *engine) begin(address uint64, buf []byte, peer int, receives, sync bool) *pinnedTransfer {
	t := e.free
	if t == nil {
		t = new(pinnedTransfer)
	} else {
		e.free = t.next
	}
	*t = pinnedTransfer{address: address, buf: buf, peer: peer, receives: receives, sync: sync, send: -1}
	if receives {
		e.receive(t)
	} else {
		e.outgoing = append(e.outgoing, t)
		e.push()
	}
	return t
}

// isDone tells whether a transfer is complete.
func (e *engine) isDone(t *pinnedTransfer) bool {
	return t.done || t.send >= 0 && e.sends[t.send].state.Load() == sendDone
}

// finish waits for a transfer. It returns what went wrong as one of mpi's
// errors.
func (e *engine) finish(t *pinnedTransfer) error {
	var p patience
	for !e.isDone(t) {
		e.step()
		if t.done {
			break
		}
		if !e.pause(&p, t.peer) {
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
	*t = pinnedTransfer{next: e.free}
	e.free = t
	return err
}

// send is a blocking send.
func (e *engine) send(address uint64, buf []byte, dst int, sync bool) error {
	if !e.idle() {
		return e.finish(e.begin(address, buf, dst, false, sync))
	}
	r := e.world.ring(e.rank, dst)
	var p patience
	for !r.hasRoom() {
		if !e.pause(&p, dst) {
			return mpi.ErrAborted
		}
	}
	if len(buf) <= slotData && !sync {
		r.putShort(address, buf)
		return nil
	}
	index, ok := e.offer(buf)
	if !ok {
		return e.finish(e.begin(address, buf, dst, false, sync))
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

// recv is a blocking receive.
func (e *engine) recv(address uint64, buf []byte, src int) error {
	in := e.from(src)
	if !e.idle() || len(in.messages) > 0 {
		return e.finish(e.begin(address, buf, src, true, false))
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
