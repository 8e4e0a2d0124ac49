package measure

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
)

// measureLatencies measures them of the pairs that the settings, the job and the
// budget ask for. It is collective.
func (d *Discovery) measureLatencies(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings) error {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return fmt.Errorf("measure: discover: %w", err)
	}
	all := s.latencies()
	few, err := harness.Share(comm, nil, func() (bool, error) {
		if n := newNodes(places, s.Pairs == TwoLevelsAlike); s.Pairs.twoLevels() && n.several() {
			d.nodes, all.Chosen = n, n.rounds()
		}
		asNeeded := d.nodes == nil && s.Reconstructor == nil && s.View == nil // a method of the caller's wants all pairs
		return s.Pairs == FewPairs || asNeeded && s.Budget > 0 && comm.Size() >= fewestForFew, nil
	})
	switch {
	case err != nil:
	case few:
		err = d.measureFewPairs(ctx, comm, s, all)
	default:
		d.Latencies, err = Run(ctx, comm, &all)
	}
	return err
}

// measureFewPairs measures a few rounds of all pairs, which tell the conditions, too. If all rounds fit the
// budget, it measures them. If not, or if few pairs are asked for, it goes on with as many pairs as tell the groups apart.
// These are measurements like others. It is collective.
func (d *Discovery) measureFewPairs(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings, all Settings) error {
	now, left := harness.Clock(comm), harness.Remaining(comm, all.Budget)
	var at []float64 // s, when each round began
	trial := all
	trial.Repetitions, trial.extra, trial.Precision, trial.Rounds, trial.Samples, trial.Record = 1, 0, 0, trialRounds, s.fewSamples(), nil
	trial.Progress = func(Progress) { at = append(at, now()) }
	var err error
	if d.Latencies, err = Run(ctx, comm, &trial); err != nil {
		return err
	}
	var note string // why few pairs are measured
	few, err := harness.Share(comm, nil, func() (bool, error) {
		if s.Pairs == FewPairs || len(at) < 2 {
			return s.Pairs == FewPairs, nil
		}
		seconds := allPairsTake(at, comm.Size())
		if seconds > all.Budget.Seconds() {
			note = fmt.Sprintf("all pairs would take %s: few of them are measured, as many as tell the groups apart", quantity.Seconds(seconds))
		}
		return note != "", nil
	})
	if err != nil {
		return err
	}
	all.Budget = left(1)
	if !few {
		d.Latencies, err = Run(ctx, comm, &all)
		return err
	}
	if note != "" {
		d.Latencies.Notes = append([]string{note}, d.Latencies.Notes...)
		if s.Notify != nil {
			s.Notify(note)
		}
	}
	d.Topology, err = fewPairs(ctx, comm, &trial.Sampling, all.Control, d.Latencies)
	return err
}

// parameterShare is the part of the budget, a quarter, that PLogP parameters get where they are wanted.
const parameterShare = 4

// measureParameters measures the PLogP parameters of all pairs if rank 0 wants them. It is collective.
func (d *Discovery) measureParameters(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings) error {
	wanted, err := harness.Share(comm, nil, func() (bool, error) { return s.View != nil, nil })
	if err != nil || !wanted {
		return err
	}
	d.Parameters, err = plogp.Measure(ctx, comm, &plogp.Settings{
		Control: s.control("PLogP parameters", s.Budget/parameterShare), Seed: s.Seed,
	})
	if d.Parameters != nil {
		d.rates.fit.Parameters = d.Parameters.PairParams()
	}
	return err
}
