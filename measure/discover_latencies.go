package measure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/adaptive"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// measureLatencies measures them of the pairs that the settings, the job and the
// budget ask for. It is collective.
func (d *Discovery) measureLatencies(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings) error {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return fmt.Errorf("measure: discover: %w", err)
	}
	short := s.latencies()
	few, err := harness.Share(comm, nil, func() (bool, error) {
		if n := newNodes(places, s.Pairs == TwoLevelsAlike); s.Pairs.twoLevels() && n.several() {
			d.nodes, short.Chosen = n, n.rounds()
		}
		asNeeded := d.nodes == nil && s.Reconstructor == nil && s.View == nil // a method of the caller's wants all pairs
		return s.Pairs == FewPairs || asNeeded && s.Budget > 0 && comm.Size() >= fewestForFew, nil
	})
	switch {
	case err != nil:
	case few:
		err = d.measureFewPairs(ctx, comm, s, short)
	default:
		d.Latencies, err = Run(ctx, comm, &short)
	}
	return err
}

// note keeps a decision for the result of the latencies, and tells it.
func (d *Discovery) note(s *DiscoverSettings, text string) {
	d.notes = append(d.notes, text)
	if s.Notify != nil {
		s.Notify(text)
	}
}

// fewPairsSamples of a pair are taken where nobody has said.
const fewPairsSamples = 10 // of which the lower quartile leaves two out

// adaptiveSamples are those of each measurement of few pairs.
func (s *DiscoverSettings) adaptiveSamples() int {
	return max(cmp.Or(s.Samples, fewPairsSamples), fewest)
}

const (
	// Rounds that tell how long all pairs take, in the median.
	trialRounds = 3
	// Of fewer ranks few pairs are no fewer than all: a core and what follows read as much.
	fewestForFew = 64
)

// measureFewPairs measures a few rounds of all pairs, which tell the conditions, too. If all rounds fit the
// budget, it measures them. If not, or if few pairs are asked for, it goes on with as many pairs as tell the groups apart.
// These are measurements like others. It is collective.
func (d *Discovery) measureFewPairs(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings, short Settings) error {
	now, left := harness.Clock(comm), harness.Remaining(comm, short.Budget)
	var at []float64 // s, when each round began
	trial := short
	trial.Repetitions, trial.extra, trial.Precision, trial.Rounds, trial.Samples, trial.Record = 1, 0, 0, trialRounds, s.adaptiveSamples(), nil
	trial.Progress = func(Progress) { at = append(at, now()) }
	var err error
	if d.Latencies, err = Run(ctx, comm, &trial); err != nil {
		return err
	}
	few, err := harness.Share(comm, nil, func() (bool, error) {
		if s.Pairs == FewPairs || len(at) < 2 {
			return s.Pairs == FewPairs, nil
		}
		all := allPairsTake(at, comm.Size())
		if all > short.Budget.Seconds() {
			d.note(s, fmt.Sprintf("all pairs would take %s: few of them are measured, as many as tell the groups apart", quantity.Seconds(all)))
		}
		return all > short.Budget.Seconds(), nil
	})
	if err != nil {
		return err
	}
	short.Budget = left(1)
	if !few {
		d.Latencies, err = Run(ctx, comm, &short)
		return err
	}
	return d.goOnWithFewPairs(ctx, comm, s, short)
}

// allPairsTake is how long in s the rounds of all pairs of so many ranks take once. The median counts of the rounds that
// began at the given moments.
func allPairsTake(at []float64, ranks int) float64 {
	var rounds []float64
	for i := 1; i < len(at); i++ {
		rounds = append(rounds, at[i]-at[i-1])
	}
	return stats.Median(rounds) * float64(ranks-1+ranks%2)
}

// goOnWithFewPairs measures as many pairs as tell the groups apart, and adds them to those of the first rounds. It is
// collective.
func (d *Discovery) goOnWithFewPairs(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings, short Settings) error {
	var few *adaptive.Settings
	if comm.Rank() == 0 {
		few = &adaptive.Settings{Control: short.Control, Seed: s.Seed, Bytes: latencySize, Samples: s.adaptiveSamples()}
	}
	found, err := adaptive.Measure(ctx, comm, few)
	if err != nil || found == nil {
		return err
	}
	d.found = found.Topology
	d.Latencies.addFew(found)
	d.Latencies.Notes = append(d.notes, d.Latencies.Notes...)
	return nil
}

// addFew takes over the readings of few pairs. A pair's k-th reading is of
// repetition k.
func (r *Result) addFew(found *adaptive.Result) {
	count := make(map[[2]int]int)
	for i := range r.readings {
		count[r.readings[i].pair()] = 1
	}
	for _, x := range found.Readings {
		p := [2]int{int(min(x.A, x.B)), int(max(x.A, x.B))}
		k := count[p]
		count[p]++
		t := float64(x.Latency)
		r.readings = append(r.readings, Reading{
			From: p[0], To: p[1], Repetition: k, Round: r.Rounds + int(x.Round),
			Summary: pingpong.Summary{Count: r.Samples, Batch: 1, Lots: 1, Min: t, Q1: t, Median: t, Q3: t, Max: t, Mean: math.NaN()},
		})
		r.Repetitions = max(r.Repetitions, k+1)
	}
	slices.SortFunc(r.readings, compareReadings)
	r.Rounds += found.Rounds
	r.TotalRounds = r.Rounds
	if r.Stopped == "" {
		r.Stopped = found.Stopped
	}
	r.Warnings = nil // of the one round: few pairs are meant to be
	if text := r.callWarning(0); text != "" {
		r.Warnings = []string{text}
	}
}
