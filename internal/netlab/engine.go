package netlab

import (
	"math"

	events "github.com/topocast/topocast/internal/queue"
)

// An engine moves frames through the links of a network in virtual time. It
// never reads a clock: inject says when a frame has left its host, run how far
// time has come. All times are in ns.
//
// A link direction sends one frame at a time, at its rate; frames that find it
// busy wait in its queue. With cut-through a switch passes a frame on while its
// tail is still arriving. So an undisturbed frame takes the sum of the delays
// and one serialisation, at the slowest rate of its path. With
// store-and-forward it takes one serialisation per link.
type engine struct {
	links   []link
	paths   [][]int32 // src*hosts+dst -> the links to cross
	hosts   int
	forward bool    // store and forward
	jitter  *jitter // nil: none

	// Events wait in slots. The key of an item in the queue is a time. Its id is the number of the event, by which ties are
	// broken, and in the lower bits the slot.
	coming events.Min
	number int64
	slots  []event
	vacant []int64 // slots

	// deliver takes a frame that has arrived as a whole at its host at time
	// due; drop one that found a full queue.
	deliver func(f *frame, due int64)
	drop    func(f *frame)
}

// A link is one direction of a link at work.
type link struct {
	perByte float64 // ns to serialise a byte
	delay   int64   // ns
	free    int64   // when the frame on the wire has left
	waking  bool    // an event at free is under way
	queue   queue
	count   Counter
}

// A frame is an Ethernet frame on its way.
type frame struct {
	buf      []byte // of fixed capacity
	n        int    // length of the frame in buf
	src, dst int
	flow     uint32 // tells connections apart, for fair queues
	path     []int32
	hop      int
	tail     int64 // when the last bit arrives where the head is
	next     *frame
}

// inject takes a frame that left its host's kernel at time now, with src, dst, n and flow set.
// No time given to run before may be later.
func (e *engine) inject(now int64, f *frame) {
	f.path = e.paths[f.src*e.hosts+f.dst]
	f.hop, f.tail = 0, now
	e.arrive(now, f)
}

// next is the time of the next event, math.MaxInt64 if there is none.
func (e *engine) next() int64 {
	if len(e.coming) == 0 {
		return math.MaxInt64
	}
	return int64(e.coming[0].Key)
}

// run brings the network to time now.
func (e *engine) run(now int64) {
	for at := e.next(); at <= now && at < math.MaxInt64; at = e.next() {
		slot := e.coming.Pop().ID & (1<<slotBits - 1)
		ev := e.slots[slot]
		e.vacant = append(e.vacant, slot)
		switch {
		case ev.f == nil:
			e.wake(at, &e.links[ev.link])
		case ev.f.hop == len(ev.f.path):
			e.deliver(ev.f, at)
		default:
			e.arrive(at, ev.f)
		}
	}
}

// arrive handles a frame whose head (or, with store-and-forward, tail) has
// come to the link that it crosses next.
func (e *engine) arrive(at int64, f *frame) {
	id := f.path[f.hop]
	l := &e.links[id]
	if at >= l.free && l.queue.empty() {
		e.send(at, l, f)
		return
	}
	if !l.queue.push(f, &l.count) {
		l.count.Drops++
		e.drop(f)
		return
	}
	if !l.waking {
		l.waking = true
		e.schedule(l.free, event{link: id})
	}
}

// wake sends the next frame of the queue.
func (e *engine) wake(at int64, l *link) {
	l.waking = false
	f := l.queue.pop()
	if f == nil {
		return
	}
	id := f.path[f.hop]
	e.send(at, l, f)
	if !l.queue.empty() {
		l.waking = true
		e.schedule(l.free, event{link: id})
	}
}

// send puts the frame on the wire at time at, when the link is free.
func (e *engine) send(at int64, l *link, f *frame) {
	// A cut-through switch cannot end before the tail has come in.
	left := max(at+int64(float64(f.n)*l.perByte+0.5), f.tail)
	l.free = left
	l.count.Frames++
	l.count.Bytes += uint64(f.n)
	f.tail = left + l.delay
	f.hop++
	next := at + l.delay
	switch {
	case f.hop == len(f.path):
		next = f.tail
		if e.jitter != nil {
			next = e.jitter.delay(f.src*e.hosts+f.dst, next)
		}
	case e.forward:
		next = f.tail
	}
	e.schedule(next, event{f: f})
}

// An event is the arrival of frame f at its next link or host. With f nil it is
// the moment at which a link with waiting frames becomes free.
type event struct {
	f    *frame
	link int32
}

// slotBits leave room for 2^24 events at a time, and for 2^39 in all, which is more than a month of them.
const slotBits = 24

func (e *engine) schedule(at int64, ev event) {
	if len(e.vacant) == 0 {
		e.vacant = append(e.vacant, int64(len(e.slots)))
		e.slots = append(e.slots, event{})
	}
	last := len(e.vacant) - 1
	slot := e.vacant[last]
	e.vacant, e.slots[slot] = e.vacant[:last], ev
	e.coming.Push(events.Item{Key: float64(at), ID: e.number<<slotBits | slot})
	e.number++
}
