package predict

import "github.com/topocast/topocast/bcast/schedule"

// aboveRounding times a limit is above it for sure.
const aboveRounding = 1 + 1e-9

// far is how many times the limit is so far beyond that nobody needs to know by how much. It is more than 1
// because a plan that is beyond the limit of a screening is compared once more, with what was played since.
const far = 4

// lowerBound returns a time in s that the stored steps take at least, and for how long they keep the busiest link or
// rank busy, at a fraction of the cost of playing them: the time is that, too, or when the last rank would have all
// bytes if messages never waited for each other. Both are 0 where groups use native.
// Far beyond the limit, in s, it stops, and busy is not told: least is beyond then. O(steps).
func (e *Evaluator) lowerBound(limit float64) (least, busy float64) {
	e.reset()
	e.slack, e.busy = 0, 0
	if e.turns {
		e.partBytes = e.partOf()
	}
	for rank := range e.ops {
		e.ready = append(e.ready[:0], rank)
		for len(e.ready) > 0 {
			next := e.ready[len(e.ready)-1]
			e.ready = e.ready[:len(e.ready)-1]
			if !e.advance(next) {
				return 0, 0
			}
			// What follows can only add to it.
			if least = max(e.now[next], e.busy-e.slack); least > far*limit {
				return least, 0
			}
		}
	}
	busy = e.busiest()
	least = busy - e.slack
	for _, t := range e.received {
		least = max(least, t)
	}
	return least, busy
}

// advance performs the steps of a rank up to a receive of what has not come, and makes those ready that wait
// for what it sends. It is false at a step that is none of messages.
func (e *Evaluator) advance(rank int) bool {
	ops := e.ops[rank]
	for ; e.next[rank] < len(ops); e.next[rank]++ {
		op := &ops[e.next[rank]]
		switch op.Kind {
		case schedule.Recv:
			c := e.incoming(rank, op.Peer)
			if c == nil || c.taken == len(c.arrived) {
				return true
			}
			e.now[rank] = max(e.now[rank], c.arrived[c.taken]) + e.recv
			e.received[rank] = e.now[rank]
			c.taken++
		case schedule.Send:
			c := &e.channels[e.outgoing(rank, op.Peer)]
			e.carry(c, op.Length)
			e.now[rank] += e.machine.send
			slowest := 0.0
			for _, w := range c.hops {
				e.load[w.id] += w.busy * float64(c.parts)
				e.busy = max(e.busy, e.load[w.id])
				slowest = max(slowest, w.own*float64(c.parts))
				e.slack = max(e.slack, w.busy-w.own)
			}
			if c.arrived = append(c.arrived, e.now[rank]+slowest+c.empty); c.taken == len(c.arrived)-1 {
				e.ready = append(e.ready, op.Peer)
			}
		default:
			return false
		}
	}
	return true
}
