package predict

import (
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/queue"
)

// A pair is a sender and a receiver.
type pair struct{ src, dst int }

// A channel is an ordered pair of ranks with messages between them, which
// follow each other. A long message moves in parts, so that others that leave or
// enter the same rank or group have their turn.
type channel struct {
	pair
	posted  []posting // messages
	moved   int       // of them, wholly
	arrived []float64 // s, when the messages that have moved were there
	taken   int       // messages received
	follow  float64   // s, when the last message to have moved came on its last link: the next one queues up then

	// The message that moves.
	length int     // bytes; the next four belong to it
	asks   bool    // its receiver is asked before: see occupied
	parts  int     // in which it moves
	empty  float64 // s, from the link to the receiver's overhead: of a message of no bytes, and for the answer if it asks
	hops   []hop   // of a part
	part   int     // the current one
	at     int     // index of its next link
	end    float64 // s, when its last byte has passed the links before
}

// firstRank is the id of rank 0 among the events. Of what happens at the same time messages go before
// ranks, and of each the lowest number: that of a channel counts the pairs in the order of their first sends.
const firstRank = 1 << 32

// A posting is a message that the sender has given away.
type posting struct {
	at     float64 // s
	length int     // bytes
}

// evaluate plays the stored steps and returns when the last rank has all
// bytes, in s. If that is beyond the limit it stops there: it returns
// a time beyond the limit before which not all ranks have all.
func (e *Evaluator) evaluate(limit float64) float64 {
	for _, s := range [][]float64{e.free, e.load, e.now, e.received} {
		clear(s)
	}
	clear(e.next)
	clear(e.called)
	clear(e.between)
	e.channels, e.events = e.channels[:0], e.events[:0]
	for rank := range e.ops {
		e.proceed(rank)
	}
	for len(e.events) > 0 {
		next := e.events.Pop()
		if next.Key > limit {
			return next.Key
		}
		if next.ID < firstRank {
			e.move(int(next.ID), next.Key)
		} else {
			e.send(int(next.ID - firstRank))
		}
	}
	for rank, ops := range e.ops {
		if e.next[rank] < len(ops) {
			return math.Inf(1)
		}
	}
	return slices.Max(e.received)
}

// proceed performs the receives of a rank whose messages are there, and queues
// the rank when it comes to a send.
func (e *Evaluator) proceed(rank int) {
	for e.next[rank] < len(e.ops[rank]) {
		op := e.ops[rank][e.next[rank]]
		switch op.Kind {
		case schedule.Send:
			e.events.Push(queue.Item{Key: e.now[rank], ID: firstRank + int64(rank)})
			return
		case schedule.Native:
			e.call(op)
			return
		case schedule.CombineHeld:
			e.next[rank]++
			continue
		}
		i, ok := e.between[pair{op.Peer, rank}]
		if !ok {
			return
		}
		c := &e.channels[i]
		if c.taken == len(c.arrived) {
			return
		}
		e.now[rank] = max(e.now[rank], c.arrived[c.taken]) + e.recv
		c.taken++
		e.received[rank] = e.now[rank]
		e.next[rank]++
	}
}

// send performs the current step of the rank, a send.
func (e *Evaluator) send(rank int) {
	op := e.ops[rank][e.next[rank]]
	i := e.channel(pair{rank, op.Peer})
	e.now[rank] += e.machine.send
	at := e.now[rank]
	c := &e.channels[i]
	c.posted = append(c.posted, posting{at, op.Length})
	e.next[rank]++
	e.proceed(rank)
	if c.moved == len(c.posted)-1 {
		e.start(c)
		e.move(i, max(at, c.follow, c.turn()))
	}
}

// start prepares the first message of the channel that has not moved.
func (e *Evaluator) start(c *channel) {
	c.part, c.at, c.end = 0, 0, 0
	length := c.posted[c.moved].length
	if c.length == length { // it needs the same
		return
	}
	c.length = length
	empty, full := e.transfers.Time(c.src, c.dst, 0), e.transfers.Time(c.src, c.dst, int64(length))
	var busy float64
	busy, c.asks = e.occupied(c.src, c.dst, length, empty, full)
	c.empty = max(0, full-e.machine.send-e.machine.recv-busy)
	c.parts = 1
	if e.turns {
		c.parts = (length + e.partBytes - 1) / e.partBytes
	}
	c.hops = e.paths.hops(c.hops[:0], c.src, c.dst, int64(length), busy, e.held(empty))
	for k := range c.hops {
		c.hops[k].own /= float64(c.parts)
		c.hops[k].busy /= float64(c.parts)
	}
}

// held is a share of the time for which a message occupies the slowest of its
// links. It occupies the others meanwhile, too, though they could serve another
// one. The share is 0 if all flows get the same. Over TCP a rank that serves a near and a
// far receiver at once gives the near one more of its link, as 1/RTT^b. Let that be w
// times as much, and let the far one's link be half as fast as the rank's.
// Then both have their bytes after 1.5 - 1/(2w) of the time that the far one
// alone needs. Here the pace is 1 + h/2 of that, so h = 1 - 1/w. A rack's leader
// on Ethernet needed 1.26 to 1.32.
func (e *Evaluator) held(empty float64) float64 {
	return max(0, 1-math.Pow(e.near/empty, e.bias))
}

// move lets what a channel moves, which comes to the next link at the given
// time, go on until something else may come before it.
func (e *Evaluator) move(i int, at float64) {
	c := &e.channels[i]
	for {
		for ; c.at < len(c.hops); c.at++ {
			if len(e.events) > 0 {
				if first := e.events[0]; first.Key < at || first.Key == at && first.ID < int64(i) {
					e.events.Push(queue.Item{Key: at, ID: int64(i)})
					return
				}
			}
			w := c.hops[c.at]
			at = max(at, e.free[w.id])
			e.free[w.id] = at + w.busy
			e.load[w.id] += w.busy
			c.end = max(c.end, at+w.own)
		}
		// The next one queues up as soon as this one is on its last link. Otherwise a slow link would run dry while
		// a faster one before it serves others.
		c.at = 0
		if c.part++; c.part < c.parts {
			continue
		}
		c.moved++
		c.arrived = append(c.arrived, c.end+c.empty)
		c.follow = at
		more := c.moved < len(c.posted)
		if more {
			e.start(c)
			at = max(at, c.posted[c.moved].at, c.turn())
		}
		if dst := c.dst; e.next[dst] < len(e.ops[dst]) {
			if op := e.ops[dst][e.next[dst]]; op.Kind.Receives() && op.Peer == c.src {
				e.proceed(dst)
			}
		}
		if !more {
			return
		}
	}
}

// channel returns the index of the channel between a pair, which it makes if need be.
func (e *Evaluator) channel(between pair) int {
	if id, ok := e.between[between]; ok {
		return id
	}
	id := len(e.channels)
	e.channels = slices.Grow(e.channels, 1)[:id+1]
	c := &e.channels[id]
	*c = channel{pair: between, posted: c.posted[:0], arrived: c.arrived[:0], hops: c.hops[:0]}
	e.between[between] = id
	return id
}
