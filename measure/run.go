package measure

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
)

// Run measures the latency of all pairs of ranks: half the time of a round
// trip. It is collective; the settings of rank 0 count. The result is nil on
// other ranks than 0.
//
// When the context of any rank ends, or the budget, all ranks stop after
// the round under way, and the result holds what was measured; Stopped says so.
// A budget that the first rounds show to be too small for all is spent on fewer
// repetitions, and then on fewer samples. So every pair is measured once
// if that can be. Notes says so. Disturbed samples are taken again, see Measurement.
// Uncertain results carry Warnings. An error means that nothing was measured: wrong
// settings, or a failure of the communicator, which is unusable afterwards.
//
// With Resume, only what an earlier run lacks is measured.
//
// The messages travel on a duplicate of comm if it is an mpi.Splitter, and on
// comm itself otherwise. Timed communicators do the timing themselves; otherwise
// it is done by Send and Recv with the communicator's Clock, or else time.Now.
// The garbage collector of the process is off while rounds are measured.
//
// It takes n-1 rounds (odd n: n) per repetition, of O(log n) messages for the
// barrier and a pair's exchanges each. Memory is O(n) per repetition and size,
// and O(n^2) on rank 0. With a Record, the measurements go to rank 0 between rounds.
func Run(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	s := *cmp.Or(settings, &Settings{})
	return harness.Conduct(ctx, comm, s.Silence, func(own *harness.Conductor) (*Result, error) { return run(own, &s) })
}

func run(conductor *harness.Conductor, s *Settings) (*Result, error) {
	comm := conductor.Comm
	left := conductor.Remaining(s.Budget)
	p, err := harness.Share(comm, conductor, func() (*plan, error) {
		err := s.validate(comm.Size())
		return &plan{s.Sizes, s.Samples, s.Batch, s.Resume != nil}, err
	})
	if err != nil {
		return nil, err
	}
	test := &latencies{probe: pingpong.New(comm, slices.Max(p.Sizes), p.Samples), plan: p}
	test.probe.Batch = p.Batch
	var result *Result
	err = conductor.Among((comm.Rank()+1)%comm.Size(), func() (err error) {
		result, err = conditions(comm, s, p, test.probe)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("measure: collecting the conditions: rank %d: %w", comm.Rank(), err)
	}
	if p.Resume {
		if result != nil {
			err = result.goOn(s.Resume)
		}
		if err := harness.Agree(comm, conductor, err); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrResume, err)
		}
	}
	var c *collector
	var hs *harness.Settings
	if result != nil {
		c = newCollector(s, result)
		hs = c.harness()
		hs.Budget = left(1)
	}
	outcome, err := conductor.AllPairs(test.exchange, hs)
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	if result != nil {
		c.end(outcome)
	}
	return result, nil
}

// conditions gathers where and how all ranks run. It returns a result without
// measurements on rank 0, nil on others. It is collective.
func conditions(comm mpi.Communicator, s *Settings, p *plan, q *pingpong.Probe) (*Result, error) {
	h, err := record.Gather(comm, q)
	if h == nil || err != nil {
		return nil, err
	}
	h.Date = s.Date
	return &Result{
		Header: *h, Sizes: p.Sizes, Repetitions: s.Repetitions, Samples: p.Samples, Seed: s.Seed,
		WithinGroups: s.WithinGroups, OneByOne: len(s.Chosen) > 0, schedule: s.Pairs.Fingerprint(),
	}, nil
}
