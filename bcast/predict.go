package bcast

import (
	"math"
	"slices"

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
}

// transfers tells the time in s from the start of a send to the end of its
// receive between two idle ranks, the software of both included.
type transfers interface {
	Time(src, dst int, bytes int64) float64
}

// steady is the number of segments after which a broadcast is taken to go on
// at an even pace.
const steady = 16

// predict is Predict on the evaluator's machine.
func (e *evaluator) predict(a Algorithm, p Problem) float64 {
	k := p.segments()
	if k > steady {
		p.Bytes = steady * p.segment()
	}
	e.schedule(a, p)
	if k <= steady {
		all, _ := e.evaluate(p.Bytes)
		return all
	}
	all, half := e.evaluate(p.Bytes / 2)
	pace := max((all-half)/(steady/2), e.load()/steady)
	return all + pace*float64(k-steady)
}

// load is the time in s for which the busiest way or rank has been busy. A
// queue in front of it may take long to show at the end of the pipeline.
func (e *evaluator) load() float64 {
	most := 0.0
	for _, ops := range e.ops {
		work := 0.0
		for _, op := range ops {
			if op.Kind == Send {
				work += e.machine.send
			} else {
				work += e.machine.recv
			}
		}
		most = max(most, work)
	}
	clear(e.wayOut)
	clear(e.wayIn)
	clear(e.groupOut)
	clear(e.groupIn)
	for i := range e.channels {
		c := &e.channels[i]
		busy := c.busy * float64(len(c.arrived))
		e.wayOut[c.src] += busy
		e.wayIn[c.dst] += busy
		if e.tree != nil {
			e.walk(c, func(way *float64) { *way += busy })
		}
	}
	for _, ways := range [][]float64{e.wayOut, e.wayIn, e.groupOut, e.groupIn} {
		for _, busy := range ways {
			most = max(most, busy)
		}
	}
	return most
}

// schedule stores the steps of all ranks.
func (e *evaluator) schedule(a Algorithm, p Problem) {
	planner, planned := a.(treePlanner)
	var t *tree
	if planned {
		t = planner.tree(p)
	}
	for rank := range e.ops {
		if planned {
			e.ops[rank] = t.links(rank).ops(e.ops[rank][:0], p)
		} else {
			e.ops[rank] = a.Ops(e.ops[rank][:0], p, rank)
		}
	}
}

// An evaluator plays schedules on a machine. Its storage is used again.
type evaluator struct {
	machine
	wayOut, wayIn     []float64 // per rank: s, when the way is free again
	groupOut, groupIn []float64 // per group of the hierarchy

	ops      [][]Op    // per rank
	next     []int     // per rank: its current step
	now      []float64 // per rank: s, when it can start its current step
	received []float64 // per rank: s, when its last receive ended
	offset   int       // bytes
	below    float64   // s, when the last receive of bytes below offset ended
	channels []channel
	out, in  [][]int   // per rank: channels
	lastOut  []int     // per rank: index into out of the last send: children are mostly served in turn
	ready    queue.Min // ranks at a send, by the time when they can start it
}

// A channel is an ordered pair of ranks with messages between them.
type channel struct {
	src, dst int
	length   int     // of the last message, bytes; the next two belong to it
	busy     float64 // s that a message occupies its way
	wire     float64 // s from the start of that to the receiver's software
	arrived  []float64
	taken    int // messages received
}

func newEvaluator(m machine) *evaluator {
	e := &evaluator{
		machine: m, ops: make([][]Op, m.ranks),
		wayOut: make([]float64, m.ranks), wayIn: make([]float64, m.ranks),
		next: make([]int, m.ranks), now: make([]float64, m.ranks), received: make([]float64, m.ranks),
		out: make([][]int, m.ranks), in: make([][]int, m.ranks), lastOut: make([]int, m.ranks),
	}
	if m.tree != nil {
		e.groupOut = make([]float64, len(m.tree.Groups()))
		e.groupIn = make([]float64, len(m.tree.Groups()))
	}
	return e
}

// evaluate plays the stored steps and returns when the last rank has all
// bytes, and when it has those below the given offset.
func (e *evaluator) evaluate(offset int) (all, below float64) {
	e.reset()
	e.offset = offset
	for rank := range e.ops {
		e.proceed(rank)
	}
	for len(e.ready) > 0 {
		rank := int(e.ready.Pop().ID)
		dst := e.send(rank)
		e.next[rank]++
		e.proceed(rank)
		if i := e.next[dst]; i < len(e.ops[dst]) && e.ops[dst][i].Kind == Recv && e.ops[dst][i].Peer == rank {
			e.proceed(dst)
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

func (e *evaluator) reset() {
	for _, s := range [][]float64{e.wayOut, e.wayIn, e.groupOut, e.groupIn, e.now, e.received} {
		clear(s)
	}
	clear(e.next)
	clear(e.lastOut)
	for r := range e.ops {
		e.out[r], e.in[r] = e.out[r][:0], e.in[r][:0]
	}
	e.channels, e.ready, e.below = e.channels[:0], e.ready[:0], 0
}

// proceed performs the receives of a rank whose messages are there, and queues
// the rank when it comes to a send.
func (e *evaluator) proceed(rank int) {
	for e.next[rank] < len(e.ops[rank]) {
		op := e.ops[rank][e.next[rank]]
		if op.Kind == Send {
			e.ready.Push(queue.Item{Key: e.now[rank], ID: int64(rank)})
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

func (e *evaluator) incoming(rank, peer int) *channel {
	for _, i := range e.in[rank] {
		if c := &e.channels[i]; c.src == peer {
			return c
		}
	}
	return nil
}

// send performs the current step of the rank, a send, and returns the receiver.
func (e *evaluator) send(rank int) int {
	op := e.ops[rank][e.next[rank]]
	c := e.outgoing(rank, op.Peer)
	if c.length != op.Length {
		c.length = op.Length
		empty, full := e.transfers.Time(c.src, c.dst, 0), e.transfers.Time(c.src, c.dst, int64(op.Length))
		c.busy = max(0, full-empty)
		c.wire = max(0, full-e.machine.send-e.recv)
	}
	e.now[rank] += e.machine.send
	start := max(e.now[rank], e.wayOut[c.src], e.wayIn[c.dst])
	if e.tree != nil {
		e.walk(c, func(way *float64) { start = max(start, *way) })
		e.walk(c, func(way *float64) { *way = start + c.busy })
	}
	e.wayOut[c.src], e.wayIn[c.dst] = start+c.busy, start+c.busy
	c.arrived = append(c.arrived, start+c.wire)
	return c.dst
}

// walk visits the ways of the groups between the ends of a channel.
func (e *evaluator) walk(c *channel, visit func(way *float64)) {
	groups := e.tree.Groups()
	join := e.tree.Common(c.src, c.dst)
	for g := e.tree.Smallest(c.src); g != join; g = groups[g].Parent {
		visit(&e.groupOut[g])
	}
	for g := e.tree.Smallest(c.dst); g != join; g = groups[g].Parent {
		visit(&e.groupIn[g])
	}
}

// outgoing returns the channel from rank to peer, which it makes if need be.
func (e *evaluator) outgoing(rank, peer int) *channel {
	out := e.out[rank]
	for n := range out {
		i := e.lastOut[rank] + 1 + n
		if i >= len(out) {
			i -= len(out)
		}
		if c := &e.channels[out[i]]; c.dst == peer {
			e.lastOut[rank] = i
			return c
		}
	}
	id := len(e.channels)
	e.channels = slices.Grow(e.channels, 1)[:id+1]
	c := &e.channels[id]
	*c = channel{src: rank, dst: peer, arrived: c.arrived[:0]}
	e.lastOut[rank] = len(out)
	e.out[rank] = append(out, id)
	e.in[peer] = append(e.in[peer], id)
	return c
}
