package harness

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// An Outcome is how AllPairs has ended.
type Outcome struct {
	Repetitions int      // done or begun, or planned in place of what was asked for
	Rounds      int      // done, of all repetitions
	TotalRounds int      // asked for, or planned in their place where a budget is too small for them
	Pairs       int      // exchanged, see Progress
	Stopped     Stopped  // why it ended early, or ""
	Notes       []string // what was decided while measuring, each one sentence
}

// AllPairs lets the test measure all pairs of ranks, in rounds of disjoint pairs
// with a barrier before each. It is collective; the settings of rank 0 count.
// The outcome is nil on other ranks than 0; rows go to Settings.Deliver.
//
// When the context of any rank ends, or the budget, all ranks stop at the same
// round. It is the one under way or, in groups, one some hundredths of a second later. A
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
	var outcome *Outcome
	err := conduct(ctx, comm, s.Silence, func(c *Conductor) error {
		p, err := Share(comm, c, func() (*plan, error) {
			p := s.plan()
			if sampler, ok := test.(Sampler); ok {
				p.Samples = sampler.Samples()
			}
			return &p, s.validate(comm.Size())
		})
		if err != nil {
			return err
		}
		order, err := newSchedule(p, comm.Size(), comm.Rank())
		if err != nil {
			return err
		}
		own := newPart(c, test, order)
		l := &leader{Conductor: c, settings: &s, order: order, own: own}
		defer PauseCollector()()
		if err := c.Lead(s.Budget, own.act, l.lead); err != nil {
			return err
		}
		if comm.Rank() == 0 {
			outcome = l.outcome()
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	return outcome, nil
}
