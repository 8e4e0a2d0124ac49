package bcast

import (
	"fmt"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/decisions"
)

// first is collective: it is the first broadcast of a class of sizes from a root, and decides how further ones are
// done, the same on all ranks. budget is how long the decision may take, in s.
//
//  1. The ranks agree on the length and the root.
//     0 bytes need no more.
//  2. If the class of sizes and roots is decided, the plan is compiled for this root, and that is all.
//  3. Where nothing is timed, rank 0 takes the plan that is predicted to be fastest.
//  4. Otherwise native broadcasts buf, so that all ranks have the same bytes from then on.
//  5. A plan from the network's table is confirmed by a short duel with native.
//  6. What is not decided by then is searched: rank 0 predicts, and times the best plans against each other and native.
func (b *Broadcaster) first(buf []byte, root int, budget float64) error {
	if err := b.agree(decisions.Broadcast, len(buf), root, nil); err != nil {
		return err
	}
	if len(buf) == 0 {
		b.use(decisions.Incumbent(), 0, root)
		return nil
	}
	d := b.decisions.Of(len(buf), root)
	if d == nil && !b.decisions.IsTimed() {
		plan, err := b.predicted(len(buf), root)
		if err != nil {
			return err
		}
		d = &decisions.Decision{Plan: plan, Decided: true}
		b.decisions.Set(len(buf), root, d)
	}
	if d != nil && !d.Stored {
		return b.perform(b.use(d.Plan, len(buf), root), buf, root)
	}
	if err := b.perform(b.compile(decisions.Incumbent(), len(buf), root), buf, root); err != nil {
		return err
	}
	d, err := b.contest(buf, root, budget)
	if err != nil {
		return b.exec.note(fmt.Errorf("bcast: %w", err))
	}
	b.use(d.Plan, len(buf), root)
	return nil
}

// contest is collective: it returns the decision for messages like buf, which holds the same bytes on all ranks. budget is in s.
func (b *Broadcaster) contest(buf []byte, root int, budget float64) (*decisions.Decision, error) {
	watch, err := b.decisions.Stopwatch()
	if err != nil {
		return nil, err
	}
	limit := watch.Now() + budget
	if err := b.measureGroups(watch, len(buf), limit); err != nil {
		return nil, err
	}
	return b.decisions.Contest(decisions.Contest{
		Bytes: len(buf), Root: root, Limit: limit, Blocking: b.exec.canOverlap() && len(buf) > shortBytes,
		Compile: func(p predict.Plan, root int) func(bytes int) error {
			c := b.compile(p, len(buf), root)
			return func(bytes int) error { return b.perform(c, buf[:bytes], root) }
		},
	})
}

// agree is collective: it returns an error on all ranks if they disagree about the operation, or its length or root. A
// rank that refuses the operation says why, and gets that.
func (b *Broadcaster) agree(o decisions.Operation, bytes, root int, wrong error) error {
	differ, err := b.decisions.Agree(o, &b.calls, wrong, decisions.Number{Name: "root", Value: root}, decisions.Number{Name: "length in bytes", Value: bytes})
	if err != nil {
		return b.exec.note(fmt.Errorf("bcast: %w", err))
	}
	return differ
}
