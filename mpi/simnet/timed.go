package simnet

import (
	"fmt"
)

// An exchange is a timed exchange. The scheduler does its steps when messages
// arrive, so that a round trip costs no switch between goroutines. Virtual
// time is what Send and Recv in a loop would take.
type exchange struct {
	rank    *rank
	samples []float64
	send    matchKey
	receive matchKey
	size    int
	first   bool
	moves   int // sends and receives per sample
	sample  int
	move    int // of the sample, done so far; -1 before the clock is read
	began   instant
	failure error
}

// PingPong exchanges messages of size bytes with rank peer.
func (c *Comm) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	if err := c.check("PingPong", size, peer, tag); err != nil {
		return err
	}
	if iters < 1 {
		return c.fail("PingPong", peer, tag, fmt.Errorf("%d round trips: want at least 1", iters))
	}
	r := c.rank
	x := &exchange{
		rank: r, samples: samples, send: c.keyTo(peer, tag), receive: c.keyFrom(peer, tag),
		size: size, first: first, moves: 2 * iters, move: -1,
	}
	if !x.proceed() {
		r.timed = x
		err := r.block(pending{op: "PingPong", comm: c, peer: peer, tag: tag})
		r.timed = nil
		if err != nil {
			return c.fail("PingPong", peer, tag, err)
		}
	}
	return c.wrap("PingPong", peer, tag, x.failure)
}

// proceed goes on until it has to wait, and tells whether all is done.
func (x *exchange) proceed() bool {
	r := x.rank
	w := r.world
	for x.sample < len(x.samples) {
		if _, err := r.own.finish(); err != nil {
			x.failure = err
			return true
		}
		switch {
		case x.move < 0:
			x.began = r.readClock()
			x.move = 0
		case x.move == x.moves:
			x.samples[x.sample] = (r.readClock() - x.began).seconds()
			x.sample++
			x.move = -1
		default:
			if (x.move%2 == 0) == x.first {
				if err := w.send(r, &r.own, nil, x.size, x.send, false); err != nil {
					x.failure = err
					return true
				}
			} else {
				w.receive(r, &r.own, nil, x.size, x.receive)
			}
			x.move++
			if !r.own.ready() {
				return false
			}
		}
	}
	return true
}
