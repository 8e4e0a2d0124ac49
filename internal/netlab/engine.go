package netlab

import "math"

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
	forward bool // store and forward
	events  eventHeap
	seq     uint64
	jitter  *jitter // nil: none

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

// inject takes a frame with src, dst, n and flow set that left its host's
// kernel at time now, which is not before any time given to run.
func (e *engine) inject(now int64, f *frame) {
	f.path = e.paths[f.src*e.hosts+f.dst]
	f.hop, f.tail = 0, now
	e.arrive(now, f)
}

// next is the time of the next event, math.MaxInt64 if there is none.
func (e *engine) next() int64 {
	if len(e.events) == 0 {
		return math.MaxInt64
	}
	return e.events[0].at
}

// run brings the network to time now.
func (e *engine) run(now int64) {
	for len(e.events) > 0 && e.events[0].at <= now {
		ev := e.events.pop()
		switch {
		case ev.f == nil:
			e.wake(ev.at, &e.links[ev.link])
		case ev.f.hop == len(ev.f.path):
			e.deliver(ev.f, ev.at)
		default:
			e.arrive(ev.at, ev.f)
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
		e.schedule(event{at: l.free, link: id})
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
		e.schedule(event{at: l.free, link: id})
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
	e.schedule(event{at: next, f: f})
}

func (e *engine) schedule(ev event) {
	ev.seq = e.seq
	e.seq++
	e.events.push(ev)
}

// An event is the arrival of frame f at its next link or host or, with f nil,
// the moment at which a link with waiting frames becomes free.
type event struct {
	at   int64
	seq  uint64 // order of scheduling, which breaks ties
	f    *frame
	link int32
}

func (a event) before(b event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// An eventHeap is a binary heap. container/heap would box every event.
type eventHeap []event

func (h *eventHeap) push(ev event) {
	s := append(*h, ev)
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !ev.before(s[p]) {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = ev
	*h = s
}

func (h *eventHeap) pop() event {
	s := *h
	top, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return top
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && s[c+1].before(s[c]) {
			c++
		}
		if !s[c].before(last) {
			break
		}
		s[i] = s[c]
		i = c
	}
	s[i] = last
	return top
}
