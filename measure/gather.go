package measure

import (
	"cmp"

	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
)

// conditions gathers where and how all ranks run. It returns a result without
// readings on rank 0, nil on others. It is collective.
func conditions(comm mpi.Communicator, s *Settings, p *plan, q *pingpong.Probe) (*Result, error) {
	h, err := record.Gather(comm, &record.Conditions{
		Date: s.Date, Timed: q.Timed, ClockStep: q.Step, ClockCost: q.Cost,
	})
	if h == nil || err != nil {
		return nil, err
	}
	return &Result{
		Header: *h, Sizes: p.Sizes, Repetitions: cmp.Or(s.Repetitions, defaultRepetitions), Samples: p.Samples, Seed: s.Seed,
		WithinGroups: s.WithinGroups, OneByOne: len(s.Chosen) > 0, schedule: s.Pairs.Fingerprint(),
	}, nil
}
