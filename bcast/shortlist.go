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

// shortlist are the plans of the class of the size that are worth timing: of the algorithms along each groups as many as
// along the others. Rank 0 alone calls it.
func (b *Broadcaster) shortlist(bytes, root int) []predict.Plan {
	var plans []predict.Plan
	parts := b.parts()
	for _, from := range parts {
		list := b.catalogue[from:b.searched]
		if to := slices.IndexFunc(list, func(a schedule.Algorithm) bool { return groupsOfPlan(a) != groupsOfPlan(list[0]) }); to >= 0 {
			list = list[:to]
		}
		short := b.predictor().Shortlist(list, classBytes(bytes), root, mostTimed)
		most := mostTimed
		few := bytes <= predict.MinSegment // all whole
		if few || !(short[0].Predicted <= quickTime) {
			most = fewTimed
		}
		most = max(1, most/len(parts))
		for _, p := range short[:min(most, len(short))] {
			p.Index += from
			plans = append(plans, p)
		}
	}
	return plans
}

// parts are where in the catalogue the algorithms along other groups begin.
func (b *Broadcaster) parts() (starts []int) {
	for i := range b.searched {
		if i == 0 || groupsOfPlan(b.catalogue[i]) != groupsOfPlan(b.catalogue[i-1]) {
			starts = append(starts, i)
		}
	}
	return starts
}

// candidates are each algorithm with its best plan by prediction, the fastest first. Rank 0 alone calls it.
func (b *Broadcaster) candidates(bytes, root int) []predict.Plan {
	return b.predictor().Candidates(b.catalogue[:b.searched], classBytes(bytes), root)
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
