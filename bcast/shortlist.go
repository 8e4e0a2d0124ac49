package bcast

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
)

// mostTimed is how many plans are timed first, the best by prediction and different from each other. Where overheads were
// not measured, predictions guess them, and order plans for short messages no better than within a third.
const mostTimed = 8

// shortlist are the plans of the class of the size that are worth timing: as many along each of the groups. Rank 0 alone calls it.
func (b *Broadcaster) shortlist(bytes, root int) (plans []predict.Plan) {
	from := 0
	for _, list := range b.searched {
		for _, p := range b.predictor().Shortlist(list, classBytes(bytes), root, max(1, mostTimed/len(b.searched))) {
			p.Index += from
			plans = append(plans, p)
		}
		from += len(list)
	}
	return plans
}

// candidates are each algorithm with its best plan by prediction, the fastest first. Rank 0 alone calls it.
func (b *Broadcaster) candidates(bytes, root int) []predict.Plan {
	return b.predictor().Candidates(slices.Concat(b.searched...), classBytes(bytes), root)
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
