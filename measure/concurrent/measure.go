package concurrent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Tags of our messages.
const (
	tagTransfer = harness.FirstTag + iota
	tagClock
	tagStamps
)

// Words of the barrier of all ranks before a pattern.
const (
	goOn byte = iota
	stopBudget
	stopContext
)

// Measure times patterns of concurrent transfers. It is collective; the
// settings of rank 0 count. Others than rank 0 get nil. Ranks outside a pattern
// wait for its end.
//
// The end of the context, on any rank, or of the budget ends the measurement early: the
// iteration under way is finished, and the result holds what was measured. An error of rank 0
// is one on all ranks. Besides the transfers, an iteration costs a barrier of
// the ranks of the pattern, and a pattern some twenty round trips of each of
// them with rank 0.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	var r *Result
	err := harness.OnWatchedDuplicate(comm, s.Silence, func(own mpi.Communicator, w *harness.Watch) (err error) {
		r, err = run(ctx, own, w, &s)
		return err
	})
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	return r, nil
}

// run is Measure on a communicator of its own.
func run(ctx context.Context, comm mpi.Communicator, watch *harness.Watch, s *Settings) (*Result, error) {
	p, err := agreed(comm, s)
	if err != nil {
		return nil, err
	}
	c := newCampaign(ctx, comm, p)
	c.watch = watch
	if comm.Rank() == 0 {
		c.budget = s.Budget.Seconds()
	}
	// Who has no part in a pattern waits for as long as it takes, without a watch.
	all, took := harness.NewBarrier(comm), true
	r := &Result{Planned: len(p.Patterns)}
	progress := func() {
		if s.Progress != nil && comm.Rank() == 0 {
			s.Progress(len(r.Patterns), len(p.Patterns))
		}
	}
	progress()
	for i := range p.Patterns {
		watch.Next()
		if all.Under(nil); took {
			all.Under(watch)
		}
		word, err := all.Wait(c.mayBegin())
		if err != nil {
			return nil, fmt.Errorf("concurrent: before pattern %d: %w", i, err)
		}
		if word != goOn {
			r.stop(word)
			break
		}
		took = slices.Contains(ranksOf(p.Patterns[i]), comm.Rank())
		pattern, err := c.measure(i)
		if err != nil {
			return nil, fmt.Errorf("concurrent: pattern %d: %w", i, err)
		}
		r.Patterns = append(r.Patterns, pattern)
		progress()
	}
	// Nobody leaves before the last pattern is over.
	if _, err := all.Wait(goOn); err != nil {
		return nil, fmt.Errorf("concurrent: at the end: %w", err)
	}
	if comm.Rank() == 0 {
		r.warn(p)
	}
	return r, nil
}

// agreed is the plan of rank 0 on all ranks, or why there is none.
func agreed(comm mpi.Communicator, s *Settings) (*plan, error) {
	var err error
	var data []byte
	if comm.Rank() == 0 {
		if err = s.validate(comm.Size()); err == nil {
			p := s.plan()
			data, err = json.Marshal(&p)
		}
	}
	if err = harness.Agree(comm, err); err != nil {
		return nil, err
	}
	if data, err = harness.Tell(comm, data); err != nil {
		return nil, fmt.Errorf("concurrent: settings of rank 0: %w", err)
	}
	p := &plan{}
	if err = json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("concurrent: settings of rank 0: %w", err)
	}
	return p, nil
}
