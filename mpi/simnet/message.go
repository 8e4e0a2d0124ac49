package simnet

import (
	"fmt"
	"math/bits"

	"github.com/topocast/topocast/mpi"
)

// A message is one transfer, from the first of the two calls that make it to
// the end of the later one. The calls meet by order alone, since every receive
// names its sender: the k-th send of one kind matches the k-th receive. So
// which messages meet does not depend on time, and buffers are copied when
// the calls meet, while time is worked out by events.
type message struct {
	key            matchKey
	next, last     *message // in the queue of its key, last in the first only
	after          *message // that follows it in its stream
	src, dst       int32    // ranks of the world
	size, room     int      // bytes sent, and the length of the receive buffer
	out, in        []byte
	eager          bool
	isSent         bool // the sender has called
	isWanted       bool // the receiver has
	hasArrived     bool
	sentAt         instant // when the sender was ready
	wantedAt       instant
	sender, taker  *requests // to be told; nil when not waiting any more
	holders        int8      // sides that may still look at the message
	failure        error     // of the receiver
	parked         []byte    // bytes of an eager message that nobody receives yet
	channels       []int32   // of its way, and then of the way back
	data           int       // how many of them its bytes cross
	hops           [12]int32 // where channels begins to grow
	latency, since instant
	bound, share   float64 // rate that it never exceeds, B/s; weight among others
	rate           float64 // B/s, as of since
	left, whole    float64 // B: as of since, and at first
	flow           int32   // of the solver, -1 if the message is alone
	place          int32   // of its event
}

// A matchKey tells which messages can meet.
type matchKey struct {
	context  uint64 // communicator and tag
	src, dst int32
}

func newKey(context uint32, tag int, src, dst int32) matchKey {
	return matchKey{uint64(context)<<16 | uint64(tag), src, dst}
}

func (k matchKey) tag() int { return int(k.context & (1<<16 - 1)) }

// meet returns the first message of the key that waits for the other side, or
// a new one that waits itself.
func (w *world) meet(key matchKey, sending bool) *message {
	first := w.waiting[key]
	if first != nil && first.isSent != sending {
		if first.next == nil {
			delete(w.waiting, key)
		} else {
			first.next.last = first.last
			w.waiting[key] = first.next
		}
		first.next, first.last = nil, nil
		return first
	}
	m := w.newMessage()
	m.key, m.src, m.dst = key, key.src, key.dst
	if first == nil {
		m.last = m
		w.waiting[key] = m
	} else {
		first.last.next = m
		first.last = m
	}
	return m
}

// newMessage returns an empty message, with two holders.
func (w *world) newMessage() *message {
	if w.free == nil {
		block := make([]message, 64)
		for i := range block {
			m := &block[i]
			m.channels = m.hops[:0]
			m.next, w.free = w.free, m
		}
	}
	m := w.free
	w.free = m.next
	m.next, m.holders = nil, 2
	m.isSent, m.isWanted, m.hasArrived, m.failure = false, false, false, nil
	m.wantedAt = 0
	return m
}

// drop says that one side does not look at the message any more.
func (w *world) drop(m *message) {
	if m.holders--; m.holders > 0 {
		return
	}
	w.unpark(m)
	m.out, m.in = nil, nil
	m.next, w.free = w.free, m
}

// send begins to send size bytes, which are buf unless a timed exchange sends
// none. Set hears of the end, if it is not over at once.
func (w *world) send(r *rank, set *requests, buf []byte, size int, key matchKey, synchronous bool) error {
	r.goOn()
	m := w.meet(key, true)
	r.clock += r.cost(w.settings.Send, size)
	m.isSent, m.sentAt, m.out, m.size = true, r.clock, buf, size
	m.eager = !synchronous && size <= w.settings.EagerLimit
	w.report.Messages++
	w.report.Bytes += int64(size)
	if err := w.net.plan(m, int(r.host), int(w.ranks[m.dst].host), r.clock); err != nil {
		return err
	}
	set.add(m, true)
	if !m.eager {
		m.sender = set
		set.open++
	}
	if m.isWanted {
		w.deliver(m)
	}
	if m.isWanted || m.eager && !w.settings.KeepUnexpected {
		w.depart(r, m)
	}
	return nil
}

// receive begins to receive size bytes.
func (w *world) receive(r *rank, set *requests, buf []byte, size int, key matchKey) {
	r.goOn()
	m := w.meet(key, false)
	m.isWanted, m.wantedAt, m.in, m.room = true, r.clock, buf, size
	set.add(m, false)
	if m.isSent {
		w.deliver(m)
	}
	if m.hasArrived {
		// It has waited here: only the work on it remains.
		r.clock += r.cost(w.settings.Recv, m.size)
		return
	}
	m.taker = set
	set.open++
	if m.isSent && (!m.eager || w.settings.KeepUnexpected) {
		w.depart(&w.ranks[m.src], m)
	}
}

// deliver copies the message into the buffer of the receiver, or finds that it
// does not fit.
func (w *world) deliver(m *message) {
	if !w.isHollow(m.size) {
		copy(m.in, m.out)
	}
	m.out = nil
	w.unpark(m)
	switch {
	case m.size > m.room:
		m.failure = fmt.Errorf("%w: %d bytes into %d", mpi.ErrTruncated, m.size, m.room)
	case m.size < m.room:
		m.failure = fmt.Errorf("%w: %d bytes into %d", mpi.ErrLength, m.size, m.room)
	}
}

// isHollow tells whether messages of a size carry no content.
func (w *world) isHollow(size int) bool {
	return w.settings.HollowAbove > 0 && size > w.settings.HollowAbove
}

// park keeps the bytes of an eager message that its sender wants back before
// they are received.
func (w *world) park(m *message) {
	if m.isWanted || len(m.out) == 0 || w.isHollow(m.size) {
		return
	}
	class := bits.Len(uint(len(m.out) - 1))
	if k := len(w.parks[class]) - 1; k >= 0 {
		m.parked, w.parks[class] = w.parks[class][k], w.parks[class][:k]
	} else {
		m.parked = make([]byte, 1<<class)
	}
	copy(m.parked, m.out)
	m.out = m.parked[:len(m.out)]
}

// unpark gives the bytes that park has used back.
func (w *world) unpark(m *message) {
	if m.parked != nil {
		class := bits.Len(uint(len(m.parked) - 1))
		w.parks[class] = append(w.parks[class], m.parked)
		m.parked = nil
	}
}

// depart lets the message move when it can: as soon as it is sent if it is
// eager, else when both sides are there; eager ones then may be kept, too.
func (w *world) depart(sender *rank, m *message) {
	handshake := instant(0) // one of its messages; the ways there and back count the same
	if !m.eager && !w.settings.NoHandshake {
		handshake = m.latency
	}
	at := m.sentAt + handshake
	if !m.eager || w.settings.KeepUnexpected {
		at = max(at, m.wantedAt)
	}
	at += handshake
	start := w.startOf(sender, m, at)
	if !w.settings.FlowPerMessage {
		start = sender.openStream(m.dst).follow(at, start)
	}
	w.schedule(departure, m.src, start, m)
}

// startOf is when a message that may leave at some instant begins to take of
// its links: once the latency of its route has passed, as in SimGrid's flow model.
func (w *world) startOf(sender *rank, m *message, at instant) instant {
	start := at + m.latency
	if w.noisy {
		start = max(at, start+picoseconds((sender.noise(w.settings.Noise)-1)*w.net.alone(m)))
	}
	takes := picoseconds(m.left / w.net.slowest(m))
	return start + max(sender.held(start, takes), w.ranks[m.dst].held(start, takes))
}

func (w *world) schedule(k kind, rank int32, at instant, m *message) {
	w.sequence++
	w.queue.push(event{at: min(at, forever), order: order(k, rank, w.sequence), m: m})
}

// A stream is what one rank sends to another. Unless they are to share links
// like strangers, its messages move one after the other, as over one
// connection.
type stream struct {
	dst     int32
	pending int32    // messages that have not arrived
	last    *message // the last that wants to move, behind the one that does; nil if none does
	at      instant  // when the last one could leave
	start   instant  // when it begins to move
}

// follow is when a message begins to move that can leave at some instant and would begin at start if it were alone: not
// before one that could leave before it, whatever noise or stalls held that one up.
func (s *stream) follow(at, start instant) instant {
	if at >= s.at {
		s.at, s.start = at, max(s.start, start)
		start = s.start
	}
	return start
}

// openStream counts one message more to a rank.
func (r *rank) openStream(dst int32) *stream {
	i := r.streamTo(dst)
	if i < 0 {
		i = len(r.streams)
		r.streams = append(r.streams, stream{dst: dst})
	}
	s := &r.streams[i]
	s.pending++
	return s
}

// streamTo is the index of the rank's stream to another, -1 if nothing is under way.
func (r *rank) streamTo(dst int32) int {
	for i := range r.streams {
		if r.streams[i].dst == dst {
			return i
		}
	}
	return -1
}

// begin handles a departure.
func (w *world) begin(m *message) error {
	if w.ranks[m.src].isLost || w.ranks[m.dst].isLost {
		return nil // it goes nowhere; who waits for it waits
	}
	if !w.settings.FlowPerMessage {
		sender := &w.ranks[m.src]
		s := &sender.streams[sender.streamTo(m.dst)]
		before := s.last
		s.last = m
		if before != nil {
			before.after = m
			return nil
		}
	}
	return w.move(m)
}

// move puts a message on the links.
func (w *world) move(m *message) error {
	at := w.now
	if m.size > 0 {
		if err := w.net.start(m, at); err != nil {
			return err
		}
		at = m.arrives()
	}
	w.schedule(arrival, m.dst, at, m)
	return nil
}

// end handles an arrival.
func (w *world) end(m *message) error {
	if m.size > 0 {
		w.net.stop(m)
	}
	if !w.settings.FlowPerMessage {
		if err := w.moveOn(m); err != nil {
			return err
		}
	}
	m.hasArrived = true
	if set := m.sender; set != nil {
		m.sender = nil
		set.complete(0)
	}
	if set := m.taker; set != nil {
		m.taker = nil
		set.complete(set.rank.cost(w.settings.Recv, m.size))
	}
	return nil
}

// moveOn moves the message behind m in its stream, and ends the stream when
// nothing is under way any more.
func (w *world) moveOn(m *message) error {
	sender := &w.ranks[m.src]
	i := sender.streamTo(m.dst)
	s := &sender.streams[i]
	s.pending--
	if next := m.after; next != nil {
		m.after = nil
		return w.move(next)
	}
	s.last = nil
	if s.pending == 0 {
		last := len(sender.streams) - 1
		*s = sender.streams[last]
		sender.streams[last].last = nil
		sender.streams = sender.streams[:last]
		if x := sender.timed; x != nil {
			x.streamEnds(m.dst)
		}
	}
	return nil
}
