package predict

import (
	"math"

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
	near      float64 // s, the shortest latency of a message of no bytes
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
	costs  *schedule.Costs      // for problems on the tree; nil: not known
	native map[int][]NativeTime // by group of the machine's own tree, ascending
	free   []float64            // per link: s, when it is free again
	load   []float64            // per link: s, for which it has been busy

	problem   schedule.Problem // of the steps
	ops       [][]schedule.Op  // per rank
	next      []int            // per rank: its current step
	now       []float64        // per rank: s, when it can start its current step
	received  []float64        // per rank: s, when its last receive ended
	coarse    bool             // an estimate is enough
	partBytes int              // of a message that moves by turns
	channels  []channel
	between   map[pair]int // index of the channel
	called    map[int]int  // by group: how many ranks have come to its next Native
	events    queue.Min    // channels of which something comes to a link, and ranks, from firstRank on, that come to a send
}

// Parts of messages are turns at a link. Links serve flows by the packet; shorter parts, and more of the longest message,
// only make the prediction slower. Estimates do with longer ones, in which a usual segment is one part, and so do
// predictions with many ranks.
const (
	leastPart = 1 << 10 // bytes
	mostParts = 64
	coarser   = 8 // times
)

func newEvaluator(m machine) *Evaluator {
	if m.paths == nil {
		m.paths = newTreePaths(m.ranks, m.tree, m.transfers)
	}
	return &Evaluator{
		machine: m, ops: make([][]schedule.Op, m.ranks),
		free: make([]float64, m.paths.count()), load: make([]float64, m.paths.count()),
		next: make([]int, m.ranks), now: make([]float64, m.ranks), received: make([]float64, m.ranks),
		between: make(map[pair]int), called: make(map[int]int),
	}
}

// steady is the number of segments after which a broadcast is taken to go on
// at an even pace. The queues of a broadcast that is no tree grow for long: it is played up to steadyMessages of all ranks.
const (
	steady         = 16
	steadyMessages = 1024
)

// Predict is the function Predict for a problem that is valid and of the
// evaluator's ranks.
func (e *Evaluator) Predict(a schedule.Algorithm, p schedule.Problem) float64 {
	return e.within(a, p, math.Inf(1))
}

// within is Predict if that is no more than the limit, in s, or else a time above the limit that it is at least.
func (e *Evaluator) within(a schedule.Algorithm, p schedule.Problem, limit float64) float64 {
	if p.Costs == nil && p.Tree == e.tree {
		p.Costs = e.costs
	}
	parts, some := a.Prepare(p), steady
	if _, tree := parts.(*schedule.Tree); !tree {
		some = max(some, steadyMessages/p.Ranks)
	}
	return e.extrapolate(parts, p, some, limit)
}

// extrapolate plays some of the pieces, and half of those, and goes on at the pace of the
// difference: that of the end, or of the busiest link or rank if it is slower, as where few bytes
// hide behind overhead. What it returns is as of within. Where there are no more pieces it plays all.
//
// An algorithm that deals the message to ranks makes longer messages of more pieces before it makes more of them. So
// many pieces are played that it makes more.
func (e *Evaluator) extrapolate(parts schedule.Parts, p schedule.Problem, some int, limit float64) float64 {
	k, whole := p.Pieces(), p
	prepare := func(pieces int) int {
		if p = whole; pieces < k {
			p.Bytes = pieces * p.PieceBytes()
		}
		return e.schedule(parts, p)
	}
	for ; some < k; some *= 2 {
		if few := prepare(some / 2); 2*prepare(some) >= 3*few {
			break
		}
	}
	if some >= k {
		prepare(k)
		return e.evaluate(limit)
	}
	more := float64(k-some) / float64(some-some/2) // times the difference
	prepare(some / 2)
	half := e.evaluate(limit)
	if half > limit {
		return half
	}
	less := e.busiest()
	if least := less * float64(k) / float64(some/2); least > limit {
		return least
	}
	prepare(some)
	stop := (limit + more*half) / (1 + more) // where what follows is above the limit
	full := e.evaluate(stop)
	if full > stop {
		return full + more*(full-half)
	}
	return full + more*max(full-half, e.busiest()-less)
}

// busiest is the time in s for which the busiest link or rank has been busy. A
// queue in front of it may take long to show at the end of the pipeline.
func (e *Evaluator) busiest() float64 {
	most := 0.0
	for _, ops := range e.ops {
		work := 0.0
		for _, op := range ops {
			switch {
			case op.Kind == schedule.Send:
				work += e.machine.send
			case op.Kind == schedule.Native:
				work += e.nativeTime(int(op.Group), op.Length)
			case op.Kind.Receives():
				work += e.machine.recv
			}
		}
		most = max(most, work)
	}
	for _, busy := range e.load {
		most = max(most, busy)
	}
	return most
}

// schedule stores the steps of all ranks, and works out in what parts their messages move. It returns how many steps
// there are.
func (e *Evaluator) schedule(parts schedule.Parts, p schedule.Problem) (steps int) {
	e.problem = p
	longest := 0
	for rank, ops := range e.ops {
		e.ops[rank] = parts.Of(rank).Ops(ops[:0], p)
		steps += len(e.ops[rank])
		for _, op := range e.ops[rank] {
			if op.Kind == schedule.Send {
				longest = max(longest, op.Length)
			}
		}
	}
	e.partBytes = max(leastPart, longest/mostParts)
	if e.coarse || e.ranks > many {
		e.partBytes *= coarser
	}
	return steps
}
