package bcast

import (
	"fmt"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
)

// contest is collective: it returns the decision for messages like buf, which holds the same bytes on all ranks.
// stored is what the network's table says; nil: nothing. budget is in s.
func (b *Broadcaster) contest(stored *decision, buf []byte, root int, budget float64) (*decision, error) {
	watch, err := b.stopwatch()
	if err != nil {
		return nil, err
	}
	limit := watch.Now() + budget
	if err := b.measureGroups(len(buf), limit); err != nil {
		return nil, err
	}
	roots := tuner.SampleRoots(b.rootClass, b.ranks, root)
	search := tuner.Search{
		Watch: watch, Bytes: len(buf), Roots: roots,
		MinSegment: predict.MinSegment, Blocking: b.exec.canOverlap() && len(buf) > shortBytes, Limit: limit,
		Compile: func(v tuner.Variant, root int) func(bytes int) error {
			p := b.compile(b.planOf(v), len(buf), root)
			return func(bytes int) error { return b.perform(p, buf[:bytes], root) }
		},
		Candidates: func() []tuner.Variant { return b.shortlist(len(buf), roots[0]) },
		Predict: func(v tuner.Variant) float64 {
			p := b.planOf(v)
			return b.predictor().Sure(p.Algorithm, b.problem(p, classBytes(len(buf)), roots[0]))
		},
	}
	if stored != nil {
		search.Stored = &tuner.Variant{Index: stored.Index, Segment: stored.Segment, Blocking: stored.Blocking}
	}
	found, err := search.Decide()
	if err != nil { // of the communicator: nobody can be informed
		return nil, fmt.Errorf("bcast: %w", err)
	}
	d := &decision{Plan: nativePlan(), decided: found.Decided, pairs: found.Pairs}
	if found.Wins {
		d.Plan = b.planOf(found.Variant)
	}
	d.Predicted, d.Measured, d.MeasuredNative = found.Predicted, found.Measured, found.Incumbent
	return d, nil
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
