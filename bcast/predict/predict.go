package predict

import (
	"fmt"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/model"
)

// Predict is the time in s that a broadcast by the algorithm takes on the network: from the start of the root until the last
// rank has the message. It takes p.Tree as it is; the network's own is n.Hierarchy(). +Inf stands for a schedule that never
// ends. Where p.Costs is nil and p.Tree the network's own, schedules are shaped by the network's Costs.
//
// # Model
//
//   - A rank works through its steps in order. Each costs it the overhead of a send or receive.
//   - A message passes the links of its route, if the network's graph knows the bandwidth of all. Otherwise it passes the
//     link out of the sender, those out of the groups that it leaves and into those that it enters, and the link into the
//     receiver. Each of these is as fast as messages between the ranks that it joins.
//   - A link serves one message at a time, in the order in which they come to it. It passes on the first byte before the
//     last one has come. The next message between the same ranks queues up as soon as this one is on its last link.
//   - A lone message may take longer than its share of one of 4 MiB. Up to a round trip of that is the library's question
//     to the receiver (rendezvous). Its links are free meanwhile, and two such messages between the same ranks are under
//     way at once.
//   - Messages of more than 1 KiB move in up to 64 parts, with more than 128 ranks in 8, so that receivers of one rank are
//     served by turns. Where round trips differ the near one gets more, with model.Network.RTTBias, or b = 0.25 where
//     none was found.
//   - Where the network knows no bandwidth, a message of 8 KiB is taken to double the latency, at no more than 10 GB/s.
//
// # Cost and accuracy
//
// Long pipelines are followed for 16 segments, those that are no trees for up to 1,024 messages. They are continued with the
// gap of the second half of these. In trees the gap of the busiest link counts if it is larger. Predict takes O(s log ranks)
// for the s sends of those segments. Against the simulated clusters of mpi/simnet the median error is 0.2 %, 90 % err by no
// more than 3.4 % and the worst by 15 % (TestPredictionsAgainstSimnet).
func Predict(n *model.Network, a schedule.Algorithm, p schedule.Problem) (float64, error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	if n.Ranks() != p.Ranks {
		return 0, fmt.Errorf("predict: network of %d ranks: want %d", n.Ranks(), p.Ranks)
	}
	return New(n).Predict(a, p), nil
}

// Plans returns the broadcast plans for a message of the given bytes on the
// network: each of the algorithms (nil: schedule.Algorithms) once, with the
// settings and the segment that are predicted to be fastest, and the fastest
// first. No communicator is needed. With all algorithms it takes 0.5 to 6 ms for
// 8 ranks and 2 to 170 ms for 64 on a busy core (BenchmarkPlans). For 1,024 ranks it takes
// 0.1 to 0.5 s. With a few algorithms it takes a fraction of that.
func Plans(n *model.Network, algorithms []schedule.Algorithm, bytes, root int) ([]Plan, error) {
	p := schedule.Problem{Ranks: n.Ranks(), Root: root, Bytes: bytes}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if algorithms == nil {
		algorithms = schedule.Algorithms()
	}
	list := schedule.Variants(algorithms, schedule.Problem{Ranks: p.Ranks, Tree: n.Hierarchy()})
	return New(n).Candidates(list, bytes, root), nil
}

// New predicts on the network, with the groups of its hierarchy.
func New(n *model.Network) *Evaluator {
	e := newEvaluator(newMachine(n))
	e.costs = e.machine.costs(e.tree)
	return e
}

// Uniform predicts for ranks of which nothing is known: all pairs are alike.
func Uniform(ranks int) *Evaluator {
	return newEvaluator(machine{
		ranks: ranks, send: guessLatency / guessOverhead, recv: guessLatency / guessOverhead,
		transfers: &guess{latency: guessLatency}, turns: true,
	})
}
