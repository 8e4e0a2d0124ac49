package predict

import (
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/queue"
	"github.com/topocast/topocast/topology"
)

// machine is what the prediction of a broadcast knows of the ranks.
type machine struct {
	ranks     int
	tree      *topology.Hierarchy // nil: no groups
	send      float64             // s, software of a send, during which its rank does nothing else
	recv      float64             // s, the same of a receive
	transfers transfers
	wiring    wiring  // nil: that of the tree
	bias      float64 // of round-trip times: see held
	near      float64 // s, the shortest journey of a message of no bytes; 0: not known
	turns     bool    // long messages that share a way move by turns; otherwise one after the other, as in LogGP
}

// transfers tells the time in s from the start of a send to the end of its
// receive between two idle ranks, the software of both included.
type transfers interface {
	Time(src, dst int, bytes int64) float64
}

// An Evaluator predicts the times of many broadcasts on one machine. Its
// storage is used again: it belongs to one goroutine.
type Evaluator struct {
	machine
	along  *topology.Hierarchy  // that schedules follow: the machine's own tree, or another one of its ranks
	costs  *schedule.Costs      // for problems on that; nil: not known
	native map[int][]NativeTime // by group of the machine's own tree, ascending
	free   []float64            // per way: s, when it is free again
	load   []float64            // per way: s, for which it has been busy

	problem   schedule.Problem // of the steps
	ops       [][]schedule.Op  // per rank, without exchanges
	spare     []schedule.Op
	next      []int     // per rank: its current step
	now       []float64 // per rank: s, when it can start its current step
	received  []float64 // per rank: s, when its last receive ended
	coarse    bool      // a look is enough
	partBytes int       // of a message that moves by turns
	offset    int       // bytes
	below     float64   // s, when the last receive of bytes below offset ended
	channels  []channel
	out, in   [][]int   // per rank: channels
	lastOut   []int     // per rank: index into out of the last send: children are mostly served in turn
	called    []int     // per group: the ranks that have come to its next Native
	calling   []bool    // per rank: it is one of them
	events    queue.Min // channels of which something comes to a way, and ranks, from firstRank on, that come to a send
}

// A channel is an ordered pair of ranks with messages between them, which
// follow each other. A long message moves in parts, so that others that leave or
// enter the same rank or group have their turn.
type channel struct {
	src, dst int
	posted   []posting // messages
	moved    int       // of them, wholly
	arrived  []float64 // s, when the messages that have moved were there
	taken    int       // messages received
	follow   float64   // s, when the last message to have moved came on its last way: the next one queues up then

	// The message that moves.
	length int     // bytes; the next three belong to it
	parts  int     // in which it moves
	empty  float64 // s, from the way to the receiver's software of a message of no bytes
	ways   []way   // of a part
	part   int     // the current one
	at     int     // index of its next way
	end    float64 // s, when its last byte has passed the ways before
}

// firstRank is the id of rank 0 among the events. Of what happens at the same time messages go before
// ranks, and of each the lowest number: that of a channel counts the pairs in the order of their first sends.
const firstRank = 1 << 32

// A posting is a message that the sender has given away.
type posting struct {
	at     float64 // s
	length int     // bytes
}

// Parts of messages are turns at a way. Links serve flows by the packet; parts that are shorter than leastPart, or
// than the longest message divided by mostParts, or so short that all ranks send more than
// allParts of them and each more than rankParts on average, only make the prediction slower.
const (
	leastPart = 1 << 10 // bytes
	mostParts = 64
	allParts  = 1 << 14
	rankParts = 128
)

// How many times longer parts are where plans are only looked at, and with many ranks.
const (
	coarser  = 4
	coarsest = 16
)

// partOf is the length of a part in bytes for the stored steps.
func (e *Evaluator) partOf() int {
	longest, all := 0, 0
	for _, ops := range e.ops {
		for _, op := range ops {
			if op.Kind == schedule.Send {
				longest = max(longest, op.Length)
				all += op.Length
			}
		}
	}
	part := max(leastPart, longest/mostParts, all/max(allParts, rankParts*e.ranks))
	switch {
	case e.ranks > many:
		part *= coarsest
	case e.coarse:
		part *= coarser
	}
	return part
}

func newEvaluator(m machine) *Evaluator {
	if m.wiring == nil {
		m.wiring = newGrouped(m.ranks, m.tree, m.transfers)
	}
	return &Evaluator{
		machine: m, along: m.tree, ops: make([][]schedule.Op, m.ranks),
		free: make([]float64, m.wiring.count()), load: make([]float64, m.wiring.count()),
		next: make([]int, m.ranks), now: make([]float64, m.ranks), received: make([]float64, m.ranks),
		calling: make([]bool, m.ranks),
		out:     make([][]int, m.ranks), in: make([][]int, m.ranks), lastOut: make([]int, m.ranks),
	}
}

// steady is the number of segments after which a broadcast is taken to go on
// at an even pace.
const steady = 16

// Predict is the function Predict for a problem that is valid and of the
// evaluator's ranks.
func (e *Evaluator) Predict(a schedule.Algorithm, p schedule.Problem) float64 {
	if p.Costs == nil && p.Tree == e.along {
		p.Costs = e.costs
	}
	k := p.Pieces()
	if _, ok := a.(schedule.Planner); !ok {
		return e.predictPlain(a, p, k)
	}
	if k > steady {
		p.Bytes = steady * p.PieceBytes()
	}
	e.schedule(a, p)
	if k <= steady {
		all, _ := e.evaluate(p.Bytes)
		return all
	}
	all, half := e.evaluate(p.Bytes / 2)
	pace := max((all-half)/(steady/2), e.busiest()/steady)
	return all + pace*float64(k-steady)
}

// A broadcast that is no tree may do one thing after the other, and its queues grow for long. It is
// played as it is up to so many messages of all ranks, or at least so many pieces.
const (
	plainMessages = 1024
	leastPlain    = 16
)

// predictPlain is Predict of an algorithm that is no tree, in k pieces: from the
// time of those that are played and of half of them it goes on evenly.
func (e *Evaluator) predictPlain(a schedule.Algorithm, p schedule.Problem, k int) float64 {
	if some := max(leastPlain, plainMessages/p.Ranks); k > some && !undivided(a) {
		return e.extrapolate(a, p, k, some)
	}
	e.schedule(a, p)
	all, _ := e.evaluate(p.Bytes)
	return all
}

// extrapolate plays some of the k pieces, and half of those, and goes on at the pace of the
// difference: that of the end, or of the busiest way or rank if it is slower, as where few bytes
// hide behind software.
func (e *Evaluator) extrapolate(a schedule.Algorithm, p schedule.Problem, k, some int) float64 {
	played := func(pieces int) (all, busiest float64) {
		p.Bytes = pieces * p.PieceBytes()
		e.schedule(a, p)
		all, _ = e.evaluate(p.Bytes)
		return all, e.busiest()
	}
	half, less := played(some / 2)
	all, more := played(some)
	return all + max(all-half, more-less)/float64(some-some/2)*float64(k-some)
}

// busiest is the time in s for which the busiest way or rank has been busy. A
// queue in front of it may take long to show at the end of the pipeline.
func (e *Evaluator) busiest() float64 {
	most := 0.0
	for _, ops := range e.ops {
		work := 0.0
		for _, op := range ops {
			switch op.Kind {
			case schedule.Send:
				work += e.machine.send
			case schedule.Recv:
				work += e.machine.recv
			case schedule.Native:
				work += e.nativeTime(int(op.Group), op.Length)
			}
		}
		most = max(most, work)
	}
	for _, busy := range e.load {
		most = max(most, busy)
	}
	return most
}

// schedule stores the steps of all ranks.
func (e *Evaluator) schedule(a schedule.Algorithm, p schedule.Problem) {
	e.problem = p
	e.ops = schedule.AllOps(e.ops, a, p)
	for rank, ops := range e.ops {
		if slices.ContainsFunc(ops, func(op schedule.Op) bool { return op.Kind == schedule.Exchange }) {
			e.ops[rank], e.spare = apart(e.spare[:0], ops), ops
		}
	}
}

// apart appends the steps with the exchanges as what they are here, sends that
// are followed by receives: a send is not waited for.
func apart(dst, ops []schedule.Op) []schedule.Op {
	for _, op := range ops {
		if op.Kind == schedule.Exchange {
			dst = append(dst, op.Sent(), op.Received())
		} else {
			dst = append(dst, op)
		}
	}
	return dst
}

// evaluate plays the stored steps and returns when the last rank has all
// bytes, and when it has those below the given offset.
func (e *Evaluator) evaluate(offset int) (all, below float64) {
	e.reset()
	e.offset = offset
	if e.turns {
		e.partBytes = e.partOf()
	}
	for rank := range e.ops {
		e.proceed(rank)
	}
	for len(e.events) > 0 {
		next := e.events.Pop()
		if next.ID < firstRank {
			e.move(int(next.ID), next.Key)
		} else {
			e.send(int(next.ID - firstRank))
		}
	}
	for rank, ops := range e.ops {
		if e.next[rank] < len(ops) {
			return math.Inf(1), math.Inf(1)
		}
		all = max(all, e.received[rank])
	}
	return all, e.below
}

func (e *Evaluator) reset() {
	for _, s := range [][]float64{e.free, e.load, e.now, e.received} {
		clear(s)
	}
	clear(e.next)
	clear(e.lastOut)
	clear(e.calling)
	if t := e.problem.Tree; t != nil {
		e.called = slices.Grow(e.called[:0], len(t.Groups()))[:len(t.Groups())]
		clear(e.called)
	}
	for r := range e.ops {
		e.out[r], e.in[r] = e.out[r][:0], e.in[r][:0]
	}
	e.channels, e.events, e.below = e.channels[:0], e.events[:0], 0
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
			e.call(rank, op)
			return
		}
		c := e.incoming(rank, op.Peer)
		if c == nil || c.taken == len(c.arrived) {
			return
		}
		e.now[rank] = max(e.now[rank], c.arrived[c.taken]) + e.recv
		c.taken++
		e.received[rank] = e.now[rank]
		if op.Offset < e.offset {
			e.below = max(e.below, e.now[rank])
		}
		e.next[rank]++
	}
}

func (e *Evaluator) incoming(rank, peer int) *channel {
	for _, i := range e.in[rank] {
		if c := &e.channels[i]; c.src == peer {
			return c
		}
	}
	return nil
}

// send performs the current step of the rank, a send.
func (e *Evaluator) send(rank int) {
	op := e.ops[rank][e.next[rank]]
	i := e.outgoing(rank, op.Peer)
	e.now[rank] += e.machine.send
	at := e.now[rank]
	c := &e.channels[i]
	c.posted = append(c.posted, posting{at, op.Length})
	e.next[rank]++
	e.proceed(rank)
	if c.moved == len(c.posted)-1 {
		e.start(c)
		e.move(i, max(at, c.follow))
	}
}

// start prepares the first message of the channel that has not moved.
func (e *Evaluator) start(c *channel) {
	length := c.posted[c.moved].length
	c.part, c.at, c.end = 0, 0, 0
	if c.length == length {
		return
	}
	c.length = length
	empty, full := e.transfers.Time(c.src, c.dst, 0), e.transfers.Time(c.src, c.dst, int64(length))
	busy := max(0, full-empty)
	c.empty = max(0, full-e.machine.send-e.machine.recv-busy)
	c.parts = 1
	if e.turns {
		c.parts = (length + e.partBytes - 1) / e.partBytes
	}
	c.ways = e.wiring.ways(c.ways[:0], c.src, c.dst, int64(length), busy, e.held(empty))
	for k := range c.ways {
		c.ways[k].own /= float64(c.parts)
		c.ways[k].busy /= float64(c.parts)
	}
}

// held is the part of the time for which a message occupies the slowest of its
// ways during which it occupies the others, too, though they could serve another
// one: nothing if all flows get the same. Over TCP a rank that serves a near and a
// far receiver at once gives the near one more of its link, as 1/RTT^b. With w
// times as much for the near one, and the far one's way half as fast as the
// link, both have their bytes after 1.5 - 1/(2w) of the time that the far one
// alone needs; here the pace is 1 + h/2 of that, so h = 1 - 1/w. A rack's leader
// on Ethernet needed 1.26 to 1.32.
func (e *Evaluator) held(empty float64) float64 {
	if e.bias <= 0 || e.near <= 0 || empty <= e.near {
		return 0
	}
	return 1 - math.Pow(e.near/empty, e.bias)
}

// move lets what a channel moves, which comes to the next way at the given
// time, go on until something else may come before it.
func (e *Evaluator) move(i int, at float64) {
	c := &e.channels[i]
	for {
		for ; c.at < len(c.ways); c.at++ {
			if len(e.events) > 0 {
				if first := e.events[0]; first.Key < at || first.Key == at && first.ID < int64(i) {
					e.events.Push(queue.Item{Key: at, ID: int64(i)})
					return
				}
			}
			w := c.ways[c.at]
			at = max(at, e.free[w.id])
			e.free[w.id] = at + w.busy
			e.load[w.id] += w.busy
			c.end = max(c.end, at+w.own)
		}
		// The next one queues up as soon as this one is on its last way, so that no
		// slow way runs dry while a faster one before it serves others.
		c.at = 0
		if c.part++; c.part < c.parts {
			continue
		}
		c.moved++
		c.arrived = append(c.arrived, c.end+c.empty)
		c.follow = at
		more := c.moved < len(c.posted)
		if more {
			at = max(at, c.posted[c.moved].at)
			e.start(c)
		}
		if dst := c.dst; e.next[dst] < len(e.ops[dst]) {
			if op := e.ops[dst][e.next[dst]]; op.Kind == schedule.Recv && op.Peer == c.src {
				e.proceed(dst)
			}
		}
		if !more {
			return
		}
	}
}

// outgoing returns the index of the channel from rank to peer, which it makes
// if need be.
func (e *Evaluator) outgoing(rank, peer int) int {
	out := e.out[rank]
	for n := range out {
		i := e.lastOut[rank] + 1 + n
		if i >= len(out) {
			i -= len(out)
		}
		if c := &e.channels[out[i]]; c.dst == peer {
			e.lastOut[rank] = i
			return out[i]
		}
	}
	id := len(e.channels)
	e.channels = slices.Grow(e.channels, 1)[:id+1]
	c := &e.channels[id]
	*c = channel{src: rank, dst: peer, posted: c.posted[:0], arrived: c.arrived[:0], ways: c.ways[:0]}
	e.lastOut[rank] = len(out)
	e.out[rank] = append(e.out[rank], id)
	e.in[peer] = append(e.in[peer], id)
	return id
}
