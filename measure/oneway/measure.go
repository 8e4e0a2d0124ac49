package oneway

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/topocast/topocast/internal/limits"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Settings of a measurement. Nil and the zero value mean all defaults. Those
// of rank 0 count; other ranks may pass nil.
type Settings struct {
	harness.Control

	// Repetitions is the number of times that every pair is measured. Default 5, at least 3.
	Repetitions int

	// Samples is the number of exchanges of a pair in each repetition, fewer where the budget is too small. Default 20,
	// at most 100,000.
	Samples int

	// Bytes is the size of the messages. Default 0.
	Bytes int

	// OneClock says that all clocks agree, to less than directions are to differ by.
	OneClock bool

	// Seed is that of the order of pairs.
	Seed uint64
}

const (
	defaultRepetitions = 5
	// LeastRepetitions are those of which a spread can be told.
	LeastRepetitions = 3

	defaultSamples = 20
	mostSamples    = 100_000
	mostBytes      = 1 << 30
)

// plan is what all ranks need, as it travels, and without the epoch as the file keeps it.
type plan struct {
	Samples  int   `json:"samples"`
	Bytes    int   `json:"bytes"`
	OneClock bool  `json:"one_clock,omitempty"`
	Epoch    int64 `json:"epoch_ns,omitempty"` // of clocks that have none of their own

	// Oversubscribed are the hosts whose ranks outnumber their CPUs. Ranks there wait for each other's time slices.
	Oversubscribed []string `json:"oversubscribed_hosts,omitempty"`
}

// plan fills in defaults.
func (s *Settings) plan() (*plan, error) {
	err := limits.Fill("oneway: Settings",
		limits.Of("Repetitions", &s.Repetitions, defaultRepetitions, LeastRepetitions, harness.MaxRepetitions),
		limits.Of("Samples", &s.Samples, defaultSamples, 1, mostSamples),
		limits.Of("Bytes", &s.Bytes, 0, 0, mostBytes))
	return &plan{Samples: s.Samples, Bytes: s.Bytes, OneClock: s.OneClock, Epoch: time.Now().UnixNano()}, err
}

// Measure measures one-way times of all pairs of ranks. It is collective; the settings of rank 0
// count. The result is nil on other ranks. It takes the rounds of harness.Conductor.AllPairs, of Samples round
// trips each, and O(n^3) for the clocks on rank 0.
//
// The end of the context of any rank, or of the budget, ends it after the round under way. An error
// means wrong settings, or a failure of the communicator, which is unusable then.
func Measure(ctx context.Context, comm mpi.Communicator, s *Settings) (*Result, error) {
	own := *cmp.Or(s, &Settings{})
	return harness.Conduct(ctx, comm, own.Silence, own.measure)
}

func (s *Settings) measure(c *harness.Conductor) (*Result, error) {
	comm := c.Comm
	p, err := harness.Share(comm, c, s.plan)
	if err != nil {
		return nil, err
	}
	var trips []trip // on rank 0
	outcome, err := c.AllPairs(newMeter(comm, p).exchange, &harness.Settings{
		Repetitions: s.Repetitions, Samples: p.Samples, Seed: s.Seed, Control: s.Control,
		Deliver: func(rows []harness.Row, _ harness.Progress) {
			for _, row := range rows {
				v := row.Values
				trips = append(trips, trip{row.From, row.To, row.Repetition, v[0], v[1], v[2]})
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("oneway: %w", err)
	}
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("oneway: %w", err)
	}
	if outcome == nil {
		return nil, nil
	}
	p.Epoch, p.Oversubscribed = 0, mpi.OversubscribedHosts(places)
	r := newResult(comm.Size(), *p, trips)
	r.Stopped, r.Rounds, r.TotalRounds = outcome.Stopped, outcome.Rounds, outcome.TotalRounds
	r.Notes = append(outcome.Notes, r.Notes...)
	return r, nil
}
