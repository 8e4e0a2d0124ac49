package local

import (
	"runtime"
	"sync/atomic"
)

const (
	ringSlots = 8  // short messages under way from one rank to another
	slotData  = 32 // bytes of a message that fit into a slot's cache line
	rankSends = 64 // long messages of one rank under way
)

// A slot is one cache line of a ring: a whole short message, or the number of
// the long send that waits for its receiver.
type slot struct {
	number  atomic.Uint64 // 1 + number of the message that is in the slot
	address uint64        // context and tag
	size    uint32        // of the message
	send    uint32        // 1 + index into the sender's sends; 0: the message is in data
	pad     uint64
	data    [slotData]byte
}

// A ring carries the messages from one rank to another. Each line has one
// writer. It holds no pointers and its size is a multiple of the cache line,
// so that the allocator places it at the start of one.
type ring struct {
	slots [ringSlots]slot
	taken atomic.Uint64 // messages that the receiver has taken out
	_     [56]byte
	next  uint64 // of the receiver: number of the message that comes next
	_     [56]byte
	put   uint64 // of the sender: messages that it has put in
	limit uint64 // of the sender: it may put in as many before it has to look at taken
	_     [48]byte
}

// A longSend is a message that its receiver copies out of the sender's buffer.
type longSend struct {
	state atomic.Uint32
	buf   []byte
	_     [96]byte // two lines apart: prefetchers fetch pairs
}

// The states of a longSend. The receiver takes it before it copies, so that a
// sender that gives up knows whether its buffer is still being read.
const (
	sendFree uint32 = iota
	sendWaiting
	sendTaken
	sendDone
	sendWithdrawn
)

// hasRoom tells whether the sender may put in another message.
func (r *ring) hasRoom() bool {
	if r.put < r.limit {
		return true
	}
	r.limit = r.taken.Load() + ringSlots
	return r.put < r.limit
}

// putShort puts in a message of at most slotData bytes. There is room.
func (r *ring) putShort(address uint64, buf []byte) {
	s := &r.slots[r.put%ringSlots]
	s.address, s.size, s.send = address, uint32(len(buf)), 0
	if len(buf) > 0 {
		copy(s.data[:], buf)
	}
	r.put++
	s.number.Store(r.put)
}

// putLong announces a long send by its index. There is room.
func (r *ring) putLong(address uint64, size, send int) {
	s := &r.slots[r.put%ringSlots]
	s.address, s.size, s.send = address, uint32(size), uint32(send)+1
	r.put++
	s.number.Store(r.put)
}

// front returns the next message, or nil if there is none.
func (r *ring) front() *slot {
	s := &r.slots[r.next%ringSlots]
	if s.number.Load() != r.next+1 {
		return nil
	}
	return s
}

// drop takes out the message that front returned.
func (r *ring) drop() {
	r.next++
	r.taken.Store(r.next)
}

// copyTo copies a long message out of its sender's buffer. It tells whether
// the sender still offers it, which it always does unless the world has ended.
func (s *longSend) copyTo(buf []byte) bool {
	if !s.state.CompareAndSwap(sendWaiting, sendTaken) {
		return false
	}
	copy(buf, s.buf)
	s.state.Store(sendDone)
	return true
}

// withdraw ends a send that the world's end has overtaken: afterwards nobody
// reads its buffer. It tells whether the message was received after all.
func (s *longSend) withdraw() bool {
	if s.state.CompareAndSwap(sendWaiting, sendWithdrawn) {
		return false
	}
	for s.state.Load() != sendDone {
		runtime.Gosched()
	}
	return true
}
