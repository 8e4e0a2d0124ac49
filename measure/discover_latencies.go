package measure

import (
	"fmt"
	"time"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
)

// measureLatencies measures them of the pairs that the settings, the job and the
// budget ask for. It is collective.
func (d *Discovery) measureLatencies(c *harness.Conductor, s *DiscoverSettings, left func(parts int) time.Duration) error {
	places, err := mpi.GatherPlaces(c.Comm)
	if err != nil {
		return fmt.Errorf("measure: discover: %w", err)
	}
	all := s.latencies(left(latencyShare))
	few, err := harness.Share(c.Comm, c, func() (bool, error) {
		if n := newNodes(places, s.Pairs == TwoLevelsAlike); s.Pairs.twoLevels() && n.several() {
			d.nodes, all.Chosen = n, n.rounds()
		}
		asNeeded := d.nodes == nil && s.Reconstructor == nil && s.View == nil // a method of the caller's wants all pairs
		return s.Pairs == FewPairs || asNeeded && s.Budget > 0 && c.Comm.Size() >= fewestForFew, nil
	})
	switch {
	case err != nil:
	case few:
		err = d.measureFewPairs(c, s, all)
	default:
		d.Latencies, err = Run(c.Ctx, c.Comm, &all)
	}
	return err
}

// measureFewPairs measures a few rounds of all pairs, which tell the conditions, too. If all rounds fit the
// budget, it measures them. If not, or if few pairs are asked for, it goes on with as many pairs as tell the groups apart.
// These are measurements like others. It is collective.
func (d *Discovery) measureFewPairs(c *harness.Conductor, s *DiscoverSettings, all Settings) error {
	left := c.Remaining(all.Budget)
	var at []float64 // s, when each round began
	trial := all
	trial.Repetitions, trial.extra, trial.Precision, trial.Rounds, trial.Samples, trial.Record = 1, 0, 0, trialRounds, s.fewSamples(), nil
	trial.Progress = func(Progress) { at = append(at, c.Now()) }
	var err error
	if d.Latencies, err = Run(c.Ctx, c.Comm, &trial); err != nil {
		return err
	}
	var note string // why few pairs are measured
	few, err := harness.Share(c.Comm, c, func() (bool, error) {
		if s.Pairs == FewPairs || len(at) < 2 {
			return s.Pairs == FewPairs, nil
		}
		seconds := allPairsTake(at, c.Comm.Size())
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
		d.Latencies, err = Run(c.Ctx, c.Comm, &all)
		return err
	}
	if note != "" {
		d.Latencies.Notes = append([]string{note}, d.Latencies.Notes...)
		if s.Notify != nil {
			s.Notify(note)
		}
	}
	all.Samples = trial.Samples
	d.Topology, err = fewPairs(c.Ctx, c.Comm, &all, d.Latencies)
	return err
}

// parameterShare is the part of what latencies leave of the budget, one half, that PLogP parameters get where they are wanted.
const parameterShare = 2

// measureParameters measures the PLogP parameters of all pairs if rank 0 wants them. It is collective.
func (d *Discovery) measureParameters(c *harness.Conductor, s *DiscoverSettings, left func(parts int) time.Duration) error {
	wanted, err := harness.Share(c.Comm, c, func() (bool, error) { return s.View != nil, nil })
	if err != nil || !wanted {
		return err
	}
	d.parametersHad = left(parameterShare)
	d.Parameters, err = plogp.Measure(c.Ctx, c.Comm, &plogp.Settings{
		Control: s.control("PLogP parameters", d.parametersHad), Seed: s.Seed,
	})
	if d.Parameters != nil {
		d.rates.fit.Parameters = d.Parameters.PairParams()
	}
	return err
}
