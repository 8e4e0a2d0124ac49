package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/topocast/topocast/mpi"
)

// An Outcome is how AllPairs has ended.
type Outcome struct {
	Repetitions int      // done or begun, or planned in place of what was asked for
	Rounds      int      // done, of all repetitions
	TotalRounds int      // asked for, or planned in their place where a budget is too small for them
	Pairs       int      // exchanged, see Progress
	Stopped     string   // why it ended early, or ""
	Notes       []string // what was decided while measuring, each one sentence
}

// AllPairs lets the test measure all pairs of ranks, in rounds of disjoint pairs
// with a barrier before each. It is collective; the settings of rank 0 count.
// The outcome is nil on other ranks than 0; rows go to Settings.Deliver.
//
// When the context of any rank ends, or the budget, all ranks stop at the same
// round, the one under way or, in groups, some hundredths of a second later. A
// budget that the first rounds show to be too small is spent on fewer repetitions, and
// then, with a Sampler, on fewer samples; Notes says so. An error means that the
// measurement is lost: wrong settings, a failure of the test or the communicator, or
// a rank that does not answer (SilentError). The communicator is unusable then.
//
// Messages travel on comm itself, with tags below FirstTag; see OnDuplicate. The
// garbage collector of the process is off while rounds are measured.
//
// Without groups there are n-1 rounds (odd n: n) per repetition, of O(log n)
// messages of each rank for the barrier. Memory is that of the rows between two
// deliveries, and O(n) per repetition.
func AllPairs(ctx context.Context, comm mpi.Communicator, test Test, settings *Settings) (*Outcome, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	p, err := Share(comm, nil, func() (*plan, error) {
		if err := s.validate(comm.Size()); err != nil {
			return nil, err
		}
		p := s.plan()
		if sampler, ok := test.(Sampler); ok {
			p.Samples = sampler.Samples()
		}
		return &p, nil
	})
	if err != nil {
		return nil, err
	}
	order, err := newSchedule(p, comm.Size(), comm.Rank())
	if err != nil {
		return nil, err
	}
	if err := p.goOn(order.rounds()); err != nil {
		return nil, err
	}
	now := Clock(comm)
	c := &campaign{
		ctx: ctx, comm: comm, settings: &s, plan: p, order: order, test: test, columns: len(test.Columns()), samplesAsked: p.Samples,
		all: NewBarrier(comm), groups: make([]*Barrier, len(order.phases)), watch: newWatch(comm, p.Silence),
		now: now, start: now(), began: time.Now(), nextCheck: p.Done + firstCheck, asked: p.Repetitions, done: p.Done, lastDone: p.Done,
	}
	for level, f := range order.phases[:len(order.phases)-1] {
		if f.group >= 0 {
			c.groups[level] = NewSubsetBarrier(comm, order.tree.Groups()[f.group].Hosts)
			c.groups[level].watch = c.watch
		}
	}
	c.all.watch = c.watch
	c.sampler, _ = test.(Sampler)
	if comm.Rank() == 0 {
		c.outcome = &Outcome{Repetitions: p.Repetitions, TotalRounds: p.Repetitions * order.rounds()}
		c.totalPairs = p.Repetitions * order.pairs()
	}
	err = c.run()
	if silent := c.watch.stop(); silent != nil { // it has ended what the communicator was doing
		err = silent
	}
	if err != nil {
		return nil, fmt.Errorf("harness: rank %d: %w", comm.Rank(), err)
	}
	return c.outcome, nil
}

// goOn makes the plan of a run that goes on with an earlier one: of so many rounds per repetition
// that one may have begun more repetitions.
func (p *plan) goOn(rounds int) error {
	switch {
	case p.Done == 0:
		return nil
	case rounds == 0 || p.Done > MaxRepetitions*rounds:
		return fmt.Errorf("harness: Settings.Done: %d: there are %d rounds per repetition", p.Done, rounds)
	}
	p.Repetitions = max(p.Repetitions, (p.Done+rounds-1)/rounds)
	return nil
}
