package bcast

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model"
)

// Predict is the time in s, from the start of the root until the last rank has
// the message, in which the algorithm solves the problem on the network. It
// takes p.Tree as it is; the network's own is n.Hierarchy(). +Inf stands for a
// schedule that never ends. Where the network knows no bandwidth, a message of
// 8 KiB is taken to double the latency, at no more than 10 GB/s.
//
// A rank works through its steps in order; each costs it the software of a send
// or receive. A message then occupies, for the time that its bytes take, the
// way out of the sender, the ways out of the groups that it leaves, those into
// the groups that it enters, and the way into the receiver. Each way serves one
// message at a time, in the order in which they set out, and passes on the
// first byte before the last one has come. That a message held up on a slow
// part occupies all of its way errs on the careful side: a sender does not
// really feed two slow links as well as one (over TCP the nearer receiver then
// takes more than its share).
//
// Long pipelines are followed for 16 segments and continued at the pace of the
// last 8, or that of the busiest way if it is slower. This errs by less than
// 2 % where each group is entered once, and by up to a third on the low side
// where a long queue builds up in front of a group. O(s log ranks) for the s
// sends of those segments.
func Predict(n *model.Network, a Algorithm, p Problem) (float64, error) {
	if err := p.validate(); err != nil {
		return 0, err
	}
	if n.Ranks() != p.Ranks {
		return 0, fmt.Errorf("bcast: predict: network of %d ranks: want %d", n.Ranks(), p.Ranks)
	}
	return newEvaluator(newMachine(n)).predict(a, p), nil
}

// Plans returns the broadcast plans for a message of the given bytes on the
// network: each algorithm once, with the settings and the segment that are
// predicted to be fastest, and the fastest first. No communicator is needed.
// It takes 0.03 to 0.3 ms for 8 ranks, 0.2 to 5 ms for 64, and 5 to 100 ms for
// 1,024 (BenchmarkPlans).
func Plans(n *model.Network, bytes, root int) ([]Plan, error) {
	p := Problem{Ranks: n.Ranks(), Root: root, Bytes: bytes}
	if err := p.validate(); err != nil {
		return nil, err
	}
	e := newEvaluator(newMachine(n))
	var plans []Plan
	for _, c := range e.candidates(bytes, root) {
		plans = append(plans, c.Plan)
	}
	return plans, nil
}

// newMachine takes from a network what predictions need.
func newMachine(n *model.Network) machine {
	m := machine{ranks: n.Ranks(), tree: n.Hierarchy()}
	least, most := math.Inf(1), 0.0
	for _, l := range n.Levels() {
		if t := l.Time(0); t > 0 { // false for NaN
			least, most = min(least, t), max(most, t)
		}
	}
	if most == 0 {
		least, most = guessLatency, guessLatency
	}
	// Overheads belong to the hosts, not to the way between them: those of the
	// finest level that has them, or a part of the shortest journey each.
	m.send, m.recv = least/guessOverhead, least/guessOverhead
	for _, l := range n.Levels() {
		if len(l.Send) > 0 && len(l.Recv) > 0 {
			m.send, m.recv = l.Send[0], l.Recv[0]
			break
		}
	}
	m.transfers = &guess{network: n, latency: most}
	return m
}

// uniform is the machine of which nothing is known but its number of ranks.
func uniform(ranks int) machine {
	return machine{
		ranks: ranks, send: guessLatency / guessOverhead, recv: guessLatency / guessOverhead,
		transfers: &guess{latency: guessLatency},
	}
}

// What is taken where nothing was measured. Guesses rank the algorithms; what was measured, or a trial, decides.
const (
	guessOverhead = 3     // parts of a journey, as long as one: sending, the way, receiving
	guessLatency  = 1e-6  // s; a shared memory, or a fast network
	guessBytes    = 8192  // bytes that take as long as the latency: 2 to 30 KiB from shared memory to Ethernet
	guessPerByte  = 1e-10 // s per byte, at least: one core copies 10 GB/s at best
)

// guess fills the gaps of a network. Unmeasured pairs are taken to be far.
type guess struct {
	network *model.Network // nil: nothing is known
	latency float64        // s, of pairs that were not measured
	used    bool           // a gap was filled since somebody cleared this
}

func (g *guess) Time(src, dst int, bytes int64) float64 {
	latency := g.latency
	if g.network != nil {
		if t := g.network.Time(src, dst, bytes); t >= 0 {
			return t
		}
		if t := g.network.Time(src, dst, 0); t >= 0 {
			latency = t
		}
	}
	g.used = true
	return latency + float64(bytes)*max(latency/guessBytes, guessPerByte)
}
