package bcast

import (
	"fmt"

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
