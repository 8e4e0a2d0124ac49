package bcast

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/tuner"
)

// How many plans are timed first, the best by prediction and different from each other: mostTimed if the best takes no
// longer than quickTime, and fewTimed otherwise, and where there are few plans altogether. Predictions guess what
// software takes where that was not measured, and then order plans for short messages no better than within a third.
const (
	mostTimed = 12
	fewTimed  = 5
	quickTime = 10e-3 // s
)

// shortlist are the plans of the class of the size that are worth timing, of each topology the best of them. Rank 0 alone
// calls it.
func (b *Broadcaster) shortlist(bytes, root int) []predict.Plan {
	each := mostTimed
	plans := b.gathered(func(e *predict.Evaluator, list []schedule.Algorithm) []predict.Plan {
		short := e.Shortlist(list, classBytes(bytes), root, mostTimed)
		few := bytes <= predict.MinSegment // all whole
		if few || !(short[0].Predicted <= quickTime) {
			each = fewTimed
		}
		return short[:min(each, len(short))]
	})
	var kept []predict.Plan
	plans = distinct(plans)
	for i, p := range plans {
		best := slices.IndexFunc(plans, func(q predict.Plan) bool { return q.Topology == p.Topology }) == i
		if best || len(kept) < each {
			kept = append(kept, p)
		}
	}
	return kept
}

// candidates are each algorithm along each topology with its best plan by prediction, the fastest first. Rank 0 alone
// calls it.
func (b *Broadcaster) candidates(bytes, root int) []predict.Plan {
	return b.gathered(func(e *predict.Evaluator, list []schedule.Algorithm) []predict.Plan {
		return e.Candidates(list, classBytes(bytes), root)
	})
}

// gathered are the plans that find proposes along each topology, the fastest by prediction first, among equals those of
// the earlier topology.
func (b *Broadcaster) gathered(find func(e *predict.Evaluator, list []schedule.Algorithm) []predict.Plan) []predict.Plan {
	var found []predict.Plan
	for i := range b.groupings {
		g := &b.groupings[i]
		if !g.Wanted {
			continue
		}
		if g.evaluator == nil {
			if g.evaluator = b.predictor(); i > 0 {
				g.evaluator = b.predictor().Along(g.tree, g.Costs)
			}
		}
		for _, p := range find(g.evaluator, b.algorithms(g)) {
			p.Index += g.from
			p.Topology = g.Name
			found = append(found, p)
		}
	}
	if len(b.groupings) > 1 { // one list is in order, with the simplest of equals first
		predict.Order(found)
	}
	return found
}

// distinct are the plans without those that are most likely the schedule of an earlier one along another topology: by
// the same algorithm, in the same segments and the same time. Those that are asked for by their whole names stay.
func distinct(plans []predict.Plan, asked ...string) []predict.Plan {
	var kept []predict.Plan
	for _, p := range plans {
		same := func(q predict.Plan) bool {
			return p.Topology != q.Topology && p.Predicted == q.Predicted && p.Segment == q.Segment && p.Name() == q.Name()
		}
		if slices.Contains(asked, p.NameAlong()) || !slices.ContainsFunc(kept, same) {
			kept = append(kept, p)
		}
	}
	return kept
}

// predictor is the evaluator of the ranks' network.
func (b *Broadcaster) predictor() *predict.Evaluator {
	if b.evaluator == nil {
		if b.evaluator = predict.Uniform(b.ranks); b.network != nil {
			b.evaluator = predict.New(b.network)
		}
		if b.exec.groups != nil {
			b.evaluator.MeasuredNative(b.exec.groups.times)
		}
	}
	return b.evaluator
}

// stopwatch is collective when it is called first.
func (b *Broadcaster) stopwatch() (*tuner.Stopwatch, error) {
	if b.watch == nil {
		watch, err := tuner.NewStopwatch(b.comm, b.exec.tag, b.hosts, b.oversubscribed)
		if err != nil {
			return nil, fmt.Errorf("bcast: %w", err)
		}
		b.watch = watch
	}
	return b.watch, nil
}
