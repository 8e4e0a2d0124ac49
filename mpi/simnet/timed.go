package simnet

import "fmt"

// An exchange is a timed exchange. Virtual time is what Send and Recv in a loop
// would take, by one of two ways:
//
// Empty messages take nothing of links, so the two ranks' clocks and the
// latencies between them are all that counts. The exchange is worked out at
// once, when both ranks are there and nothing that they have sent to each
// other before is under way.
//
// Other messages go their way one by one, but the scheduler does the steps of
// the two ranks when they arrive: no goroutine is resumed for them.
type exchange struct {
	rank    *rank
	peer    *rank
	samples []float64
	send    matchKey
	receive matchKey
	size    int
	first   bool
	moves   int     // sends and receives per sample
	atOnce  bool    // worked out when both are there
	floor   instant // nothing that is sent arrives before
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
	w, r := c.world, c.rank
	x := &exchange{
		rank: r, peer: &w.ranks[c.group.ranks[peer]], samples: samples, send: c.keyTo(peer, tag), receive: c.keyFrom(peer, tag),
		size: size, first: first, moves: 2 * iters, move: -1,
	}
	x.atOnce = size == 0 && w.settings.EagerLimit >= 0 && !w.settings.KeepUnexpected && len(w.settings.Faults.Lost) == 0
	if x.atOnce && (w.waiting[x.send] != nil || w.waiting[x.receive] != nil) {
		return c.fail("PingPong", peer, tag, fmt.Errorf("a message with the same tag has not been received"))
	}
	done := false
	if x.atOnce {
		if done = x.meet(); done {
			w.ready = append(w.ready, x.peer)
		}
	} else {
		done = x.proceed()
	}
	if !done {
		r.timed = x
		err := r.block(pending{op: "PingPong", comm: c, peer: peer, tag: tag})
		r.timed = nil
		if err != nil {
			return c.fail("PingPong", peer, tag, err)
		}
	}
	return c.fail("PingPong", peer, tag, x.failure)
}

// meet works out the exchange if all is there that it takes.
func (x *exchange) meet() bool {
	y := x.peer.timed
	if y == nil || y.send != x.receive || x.rank.streamTo(x.peer.id) >= 0 || x.peer.streamTo(x.rank.id) >= 0 {
		return false
	}
	x.rank.timed, y.rank.timed = nil, nil // so that the next exchange of either does not meet this one
	if y.first == x.first || y.size != x.size || y.moves != x.moves || len(y.samples) != len(x.samples) {
		x.failure = fmt.Errorf("the two ranks call with different arguments")
		y.failure = x.failure
		return true
	}
	if !x.first {
		x, y = y, x
	}
	w := x.rank.world
	out, back := w.newMessage(), w.newMessage()
	defer w.drop(out)
	defer w.drop(back)
	out.holders, back.holders, out.size, back.size = 1, 1, 0, 0
	here, there := int(x.rank.host), int(y.rank.host)
	x.failure, y.failure = w.net.plan(out, here, there, x.rank.clock), w.net.plan(back, there, here, y.rank.clock)
	if x.failure != nil || y.failure != nil {
		return true
	}
	for i := range x.samples {
		x.began, y.began = x.rank.readClock(), y.rank.readClock()
		for range x.moves / 2 {
			x.pass(out)
			y.pass(back)
		}
		x.samples[i] = (x.rank.readClock() - x.began).seconds()
		y.samples[i] = (y.rank.readClock() - y.began).seconds()
	}
	w.report.Messages += int64(x.moves) * int64(len(x.samples))
	return true
}

// pass lets an empty message go from the rank of x to its peer.
func (x *exchange) pass(m *message) {
	r, w := x.rank, x.rank.world
	if len(w.net.faults) > 0 { // latencies may have changed
		if x.failure = w.net.plan(m, int(r.host), int(x.peer.host), r.clock); x.failure != nil {
			return
		}
	}
	r.goOn()
	r.clock += r.cost(w.settings.Send, 0)
	x.peer.clock = max(x.peer.clock, x.floor, w.startOf(r, m, r.clock)) + x.peer.cost(w.settings.Recv, 0)
	x.peer.goOn()
}

// streamEnds is told that what the rank has sent to another has arrived.
func (x *exchange) streamEnds(dst int32) {
	if !x.atOnce || dst != x.peer.id {
		return
	}
	w := x.rank.world
	x.floor = w.now
	if x.meet() {
		w.ready = append(w.ready, x.rank, x.peer)
	}
}

// proceed goes on with an exchange message by message until it has to wait,
// and tells whether all is done.
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

// CallCosts are 0: calls take what the settings say.
func (c *Comm) CallCosts() (call, loop float64) { return 0, 0 }
