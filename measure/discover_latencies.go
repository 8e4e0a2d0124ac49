package measure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/adaptive"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// A way is how the latencies of a job are measured. Rank 0 chooses it.
type way byte

const (
	allPairs  way = iota
	twoLevels     // the inside of nodes apart from what is between them
	fewPairs      // as many as tell the groups apart
)

// measureLatencies measures them in the way that the settings, the job and the
// budget ask for. It is collective.
func (d *Discovery) measureLatencies(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings, short Settings) error {
	chosen, steps, err := d.choose(ctx, comm, s, &short)
	if err != nil {
		return err
	}
	switch chosen {
	case twoLevels:
		d.Latencies, err = oneAfterTheOther(ctx, comm, short.Budget, steps)
	case fewPairs:
		err = d.measureFewPairs(ctx, comm, s, short)
	default:
		d.Latencies, err = run(ctx, comm, &short)
	}
	return err
}

// choose finds the way, and the steps of two levels, on all ranks. It is
// collective. What it takes is taken from the budget.
func (d *Discovery) choose(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings, short *Settings) (way, []Settings, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return allPairs, nil, fmt.Errorf("measure: discover: %w", err)
	}
	now := harness.Clock(comm)
	start := now()
	steps := make([]Settings, 3) // as many on all ranks
	chosen, err := harness.Share(comm, nil, func() (chosen way, err error) {
		if s.FewPairs {
			chosen = fewPairs
		}
		if s.TwoLevel {
			if n := newNodes(places, s.EqualHosts); n.several() {
				chosen, d.nodes = twoLevels, n
				steps, err = n.steps(comm.Size(), *short)
			}
		}
		return chosen, err
	})
	if err != nil || chosen != allPairs {
		return chosen, steps, err
	}
	// A method of the caller's wants all pairs.
	asked := adaptive.Settings{Bytes: latencySize, Samples: s.adaptiveSamples(), Seed: s.Seed, Silence: s.Silence}
	if s.Reconstructor == nil && s.View == nil {
		asked.Budget = short.Budget
	}
	choice, err := adaptive.Choose(ctx, comm, &asked, 1)
	if err != nil {
		return allPairs, nil, err
	}
	if !choice.Adaptive {
		return allPairs, nil, nil
	}
	if comm.Rank() == 0 {
		d.note(s, fmt.Sprintf("all pairs would take %s: few of them are measured, as many as tell the groups apart", quantity.Seconds(choice.AllPairs.Seconds())))
		short.Budget = max(short.Budget-time.Duration((now()-start)*float64(time.Second)), 1)
	}
	return fewPairs, nil, nil
}

// note keeps a decision for the result of the latencies, and tells it.
func (d *Discovery) note(s *DiscoverSettings, text string) {
	d.notes = append(d.notes, text)
	if s.Notify != nil {
		s.Notify(text)
	}
}

// adaptiveSamples are those of each reading of few pairs.
func (s *DiscoverSettings) adaptiveSamples() int {
	if s.Samples == 0 {
		return 0 // its default
	}
	return max(s.Samples, fewest)
}

// measureFewPairs measures as many pairs as tell the groups apart, and keeps
// them as readings like others. It is collective.
func (d *Discovery) measureFewPairs(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings, short Settings) error {
	// One round of all ranks tells the conditions, too.
	first := short
	first.Repetitions, first.ExtraRepetitions, first.Rounds, first.Journal = 1, 0, 1, nil
	var err error
	if d.Latencies, err = run(ctx, comm, &first); err != nil {
		return err
	}
	var few *adaptive.Settings
	if comm.Rank() == 0 {
		few = &adaptive.Settings{Bytes: latencySize, Samples: s.adaptiveSamples(), Seed: s.Seed, Budget: short.Budget, Silence: s.Silence}
		if show := s.progress(PartLatencies); show != nil {
			began := time.Now()
			few.Progress = func(rounds, readings int) {
				show(Progress{Done: rounds, Pairs: readings, Elapsed: time.Since(began)})
			}
		}
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
	count := make(map[adaptive.Pair]int)
	for _, x := range r.readings {
		count[adaptive.Pair{A: int32(min(x.From, x.To)), B: int32(max(x.From, x.To))}] = 1
	}
	for _, x := range found.Readings {
		p := adaptive.Pair{A: min(x.A, x.B), B: max(x.A, x.B)}
		k := count[p]
		count[p]++
		t := float64(x.Latency)
		r.readings = append(r.readings, Reading{
			From: int(p.A), To: int(p.B), Repetition: k, Round: r.Rounds + int(x.Round),
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
