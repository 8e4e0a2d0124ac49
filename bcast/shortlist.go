package bcast

import (
	"errors"
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
)

// mostTimed is how many plans are timed first, the best by prediction and different from each other. Where overheads were
// not measured, predictions guess them, and order plans for short messages no better than within a third.
const mostTimed = 8

// shortlist are the plans of the class of the size that are worth timing: as many along each of the groups. Rank 0 alone calls it.
func (b *Broadcaster) shortlist(bytes, root int) (plans []tuner.Variant) {
	from := 0
	for _, list := range b.searched {
		for _, p := range b.predictor().Shortlist(list, classBytes(bytes), root, max(1, mostTimed/len(b.searched))) {
			plans = append(plans, tuner.Variant{Index: from + p.Index, Segment: p.Segment})
		}
		from += len(list)
	}
	return plans
}

// candidates is collective: it returns each algorithm with its best plan by prediction, the fastest first. They are those
// of rank 0, as two processors may round predictions apart.
func (b *Broadcaster) candidates(bytes, root int) (plans []predict.Plan, err error) {
	const values = 3 // that rank 0 tells of a plan
	var told []float64
	if b.decides() && b.searched != nil {
		for _, p := range b.predictor().Candidates(slices.Concat(b.searched...), classBytes(bytes), root) {
			told = append(told, float64(p.Index), float64(p.Segment), p.Predicted)
		}
	}
	data, err := b.control.TellAny(share.AppendFloats(nil, told))
	if err != nil {
		return nil, b.exec.note(fmt.Errorf("bcast: %w", err))
	}
	for x := range slices.Chunk(share.Floats(data), values) {
		p := b.planOf(tuner.Variant{Index: int(x[0]), Segment: int(x[1])})
		p.Predicted = x[2]
		plans = append(plans, p)
	}
	return plans, nil
}

// predicted is collective: it returns the plan that is predicted to be fastest.
func (b *Broadcaster) predicted(bytes, root int) (predict.Plan, error) {
	plans, err := b.candidates(bytes, root)
	if err == nil && len(plans) == 0 {
		err = errors.New("bcast: all algorithms of the settings need native broadcasts in groups, which this communicator has not: add schedule.Flat")
	}
	if err != nil {
		return predict.Plan{}, err
	}
	return plans[0], nil
}

// planOf is a plan that has no times.
func (b *Broadcaster) planOf(v tuner.Variant) predict.Plan {
	p := nativePlan()
	if v.Index != tuner.Incumbent {
		p.Index, p.Algorithm, p.Segment, p.Blocking = v.Index, b.catalogue[v.Index], v.Segment, v.Blocking
	}
	return p
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
