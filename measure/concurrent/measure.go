package concurrent

import (
	"cmp"
	"context"
	"fmt"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Tags of our messages.
const (
	tagTransfer = harness.FirstTag + iota
	tagClock
)

// Measure times patterns of concurrent transfers. It is collective; the
// settings of rank 0 count. Others than rank 0 get nil. Ranks outside a pattern
// wait while it is visited.
//
// The end of the context, on any rank, or of the budget ends the measurement early: the
// iteration under way is finished, and the result holds what was measured. An error of rank 0
// is one on all ranks. Besides the transfers, an iteration costs a barrier of
// the ranks of the pattern. A visit costs short messages for all connections, and ten to twenty round trips
// of each of the ranks with rank 0. Visits are as many as the logarithm of the iterations.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	s := *cmp.Or(settings, &Settings{})
	return harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (*Result, error) { return run(c, &s) })
}

// run is Measure on a communicator of its own.
func run(conductor *harness.Conductor, s *Settings) (*Result, error) {
	c := &campaign{Conductor: conductor, set: mpi.NewRequests(conductor.Comm), clocks: drift{after: make(map[int]clockReading)}}
	_, err := harness.Share(c.Comm, c.Conductor, func() (none struct{}, err error) {
		err = s.validate(c.Comm.Size())
		c.settings, c.tallies = s, make([]tally, len(s.Patterns))
		return none, err
	})
	if err != nil {
		return nil, err
	}
	var r *Result
	err = c.Lead(s.Budget, c.visit, func(play harness.Play) error {
		r = &Result{Planned: len(s.Patterns)}
		steps := s.Steps("patterns")
		progress := func(done int) { steps(done, len(s.Patterns)) }
		progress(0)
		if err := c.measure(play, progress); err != nil {
			return err
		}
		r.Patterns, r.Stopped = c.patterns(), c.Stopped()
		progress(len(r.Patterns))
		r.warn(s)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("concurrent: %w", err)
	}
	return r, nil
}
