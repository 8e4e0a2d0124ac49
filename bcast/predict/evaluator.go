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
	send      float64             // s, overhead of a send, during which its rank does nothing else
	recv      float64             // s, the same of a receive
	transfers transfers
	paths     paths   // nil: that of the tree
	bias      float64 // of round-trip times: see held
	near      float64 // s, the shortest latency of a message of no bytes; 0: not known
	turns     bool    // long messages that share a link move by turns; otherwise one after the other, as in LogGP
}

// transfers tells the time in s from the start of a send to the end of its
// receive between two idle ranks, the overhead of both included.
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
	free   []float64            // per link: s, when it is free again
	load   []float64            // per link: s, for which it has been busy

	problem   schedule.Problem // of the steps
	ops       [][]schedule.Op  // per rank, without exchanges
	spare     []schedule.Op
	ready     []int     // ranks: see lowerBound
	slack     float64   // s, for which a link may be busy with the last part after that has come: see lowerBound
	busy      float64   // s, for which the busiest link is busy with the steps so far: see lowerBound
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
	events    queue.Min // channels of which something comes to a link, and ranks, from firstRank on, that come to a send
}

// Parts of messages are turns at a link. Links serve flows by the packet; parts that are shorter than leastPart, or
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
	if m.paths == nil {
		m.paths = newTreePaths(m.ranks, m.tree, m.transfers)
	}
	return &Evaluator{
		machine: m, along: m.tree, ops: make([][]schedule.Op, m.ranks),
		free: make([]float64, m.paths.count()), load: make([]float64, m.paths.count()),
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
	t, _ := e.within(a, p, math.Inf(1))
	return t
}

// within is Predict if that is no more than the limit, in s; or else a time above the limit that it is
// at least, and false.
func (e *Evaluator) within(a schedule.Algorithm, p schedule.Problem, limit float64) (seconds float64, all bool) {
	if p.Costs == nil && p.Tree == e.along {
		p.Costs = e.costs
	}
	k := p.Pieces()
	if _, ok := a.(schedule.Planner); !ok {
		return e.plainWithin(a, p, k, limit)
	}
	if k > steady {
		p.Bytes = steady * p.PieceBytes()
	}
	e.schedule(a, p)
	if k <= steady {
		return e.playWithin(limit)
	}
	more := float64(k-steady) / steady
	busy := 0.0
	if !math.IsInf(limit, 1) {
		var least float64
		least, busy = e.lowerBound(limit)
		if least += more * busy; least > limit*aboveRounding {
			return least, false
		}
	}
	whole, half, ok := e.evaluate(p.Bytes/2, limit*aboveRounding-more*busy)
	if !ok {
		return whole + more*busy, false
	}
	pace := max((whole-half)/(steady/2), e.busiest()/steady)
	return whole + pace*float64(k-steady), true
}

// playWithin plays the stored steps, as far as the limit.
func (e *Evaluator) playWithin(limit float64) (seconds float64, all bool) {
	if !math.IsInf(limit, 1) {
		if least, _ := e.lowerBound(limit); least > limit*aboveRounding {
			return least, false
		}
	}
	seconds, _, all = e.evaluate(0, limit)
	return seconds, all
}

// A broadcast that is no tree may do one thing after the other, and its queues grow for long. It is
// played as it is up to so many messages of all ranks, or at least so many pieces.
const (
	plainMessages = 1024
	leastPlain    = 16
)

// plainWithin is within of an algorithm that is no tree, in k pieces: from the
// time of those that are played and of half of them it goes on evenly.
func (e *Evaluator) plainWithin(a schedule.Algorithm, p schedule.Problem, k int, limit float64) (seconds float64, all bool) {
	if some := max(leastPlain, plainMessages/p.Ranks); k > some && !undivided(a) {
		return e.extrapolate(a, p, k, some, limit)
	}
	e.schedule(a, p)
	return e.playWithin(limit)
}

// extrapolate plays some of the k pieces, and half of those, and goes on at the pace of the
// difference: that of the end, or of the busiest link or rank if it is slower, as where few bytes
// hide behind overhead. What it returns is as of within.
//
// An algorithm that deals the message to ranks makes longer messages of more pieces before it makes more of them. So
// many pieces are played that it makes more.
func (e *Evaluator) extrapolate(a schedule.Algorithm, p schedule.Problem, k, some int, limit float64) (seconds float64, all bool) {
	whole := p
	prepare := func(pieces int) (steps int) {
		p.Bytes = pieces * p.PieceBytes()
		e.schedule(a, p)
		for _, ops := range e.ops {
			steps += len(ops)
		}
		return steps
	}
	for few := prepare(some / 2); 2*prepare(some) < 3*few; few = prepare(some / 2) {
		if some *= 2; some >= k {
			e.schedule(a, whole)
			return e.playWithin(limit)
		}
	}
	more := float64(k-some) / float64(some-some/2) // times the difference
	if !math.IsInf(limit, 1) {
		least, busy := e.lowerBound(limit)
		if least > far*limit {
			return least, false
		}
		prepare(some / 2)
		_, less := e.lowerBound(math.Inf(1))
		if least += more * (busy - less); least > limit*aboveRounding {
			return least, false
		}
	} else {
		prepare(some / 2)
	}
	half, _, ok := e.evaluate(0, limit)
	if !ok {
		return half, false
	}
	less := e.busiest()
	prepare(some)
	full, _, ok := e.evaluate(0, (limit+more*half)/(1+more))
	if !ok {
		return full + more*(full-half), false
	}
	return full + more*max(full-half, e.busiest()-less), true
}

// busiest is the time in s for which the busiest link or rank has been busy. A
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
