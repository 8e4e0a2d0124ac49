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

// Words of the barrier of all ranks before a visit.
const (
	goOn byte = iota
	skip
	stopBudget
	stopContext
)

// Measure times patterns of concurrent transfers. It is collective; the
// settings of rank 0 count. Others than rank 0 get nil. Ranks outside a pattern
// wait while it is visited.
//
// The end of the context, on any rank, or of the budget ends the measurement early: the
// iteration under way is finished, and the result holds what was measured. An error of rank 0
// is one on all ranks. Besides the transfers, an iteration costs a barrier of
// the ranks of the pattern, and a visit short messages for all connections and ten to twenty round trips
// of each of the ranks with rank 0. Visits are as many as the logarithm of the iterations.
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
	meet := func(word byte) (byte, error) {
		if all.Under(nil); took {
			all.Under(watch)
		}
		took = true
		return all.Wait(word)
	}
	r := &Result{Planned: len(p.Patterns)}
	progress := func(done int) {
		if s.Progress != nil && comm.Rank() == 0 {
			s.Progress(done, len(p.Patterns))
		}
	}
	progress(0)
	for r.Stopped == "" {
		// Nobody leaves before the last visit is over.
		if _, err := meet(goOn); err != nil {
			return nil, fmt.Errorf("concurrent: before a pass: %w", err)
		}
		pass, err := c.nextPass()
		if err != nil {
			return nil, fmt.Errorf("concurrent: before a pass: %w", err)
		}
		if len(pass) == 0 {
			break
		}
		for k, v := range pass {
			watch.Next()
			word, err := meet(c.mayBegin(v.Pattern))
			if err != nil {
				return nil, fmt.Errorf("concurrent: before pattern %d: %w", v.Pattern, err)
			}
			if word == skip {
				continue
			}
			if word != goOn {
				r.stop(word)
				break
			}
			took = slices.Contains(ranksOf(p.Patterns[v.Pattern]), comm.Rank())
			if err := c.visit(v, len(pass)-k); err != nil {
				return nil, fmt.Errorf("concurrent: pattern %d: %w", v.Pattern, err)
			}
			progress(c.done())
		}
	}
	if comm.Rank() == 0 {
		r.Patterns = c.patterns()
		progress(len(r.Patterns))
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
