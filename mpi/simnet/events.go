package simnet

import "math"

// An instant is a moment of virtual time in picoseconds since the start. Whole
// numbers make moments that are equal by arithmetic equal in fact, so that
// what happens together is handled together.
type instant int64

// forever is later than anything: 53 days.
const forever instant = math.MaxInt64 / 2

// farAway, in s, is the same with room for sums of two: 46 days.
const farAway = 4e6

// picoseconds rounds a duration in s.
func picoseconds(s float64) instant {
	if !(s < farAway) {
		return forever
	}
	return instant(math.Round(s * 1e12))
}

func (t instant) seconds() float64 { return float64(t) / 1e12 }

// A kind of event. At one instant they are handled in this order: what ends
// makes room before the next begins.
type kind uint64

const (
	arrival   kind = iota // a message has arrived as a whole
	fault                 // a rank is lost, or a fault comes, grows or goes
	departure             // a message begins to move
	look                  // a rank looks whether its transfers are complete
)

// An event waits in the queue. Its order holds kind, rank and sequence, the
// rank being the receiver of an arrival and the sender of a departure. Of a fault it is
// the number of the fault.
type event struct {
	at    instant
	order uint64
	m     *message // nil for a fault, and for a look
}

const (
	sequenceBits = 38
	rankBits     = 24
)

func order(k kind, rank int32, sequence uint64) uint64 {
	return uint64(k)<<(sequenceBits+rankBits) | uint64(rank)<<sequenceBits | sequence&(1<<sequenceBits-1)
}

func (e *event) kind() kind  { return kind(e.order >> (sequenceBits + rankBits)) }
func (e *event) rank() int32 { return int32(e.order >> sequenceBits & (1<<rankBits - 1)) }

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// An eventQueue is a heap of four children per node, which is flatter than a
// binary one. Messages know their place in it, so that an arrival can be
// moved when its rate changes; a message has one event at a time.
type eventQueue []event

func (q *eventQueue) push(e event) {
	*q = append(*q, e)
	q.up(len(*q)-1, e)
}

func (q *eventQueue) pop() event {
	first := (*q)[0]
	q.remove(0)
	return first
}

func (q *eventQueue) remove(i int) {
	h := *q
	last := h[len(h)-1]
	h[len(h)-1].m = nil
	h = h[:len(h)-1]
	*q = h
	if i < len(h) {
		q.place(i, last)
	}
}

// move gives the event at place i a new time.
func (q *eventQueue) move(i int, at instant) {
	e := (*q)[i]
	e.at = at
	q.place(i, e)
}

// place puts e near i, where the heap has a hole.
func (q *eventQueue) place(i int, e event) {
	if i > 0 && e.before(&(*q)[(i-1)/4]) {
		q.up(i, e)
		return
	}
	h := *q
	for {
		least := 4*i + 1
		if least >= len(h) {
			break
		}
		for c := least + 1; c < min(4*i+5, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h.set(i, h[least])
		i = least
	}
	h.set(i, e)
}

func (q *eventQueue) up(i int, e event) {
	h := *q
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h.set(i, h[parent])
		i = parent
	}
	h.set(i, e)
}

func (q eventQueue) set(i int, e event) {
	q[i] = e
	if e.m != nil {
		e.m.place = int32(i)
	}
}
