package adaptive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// Measure works out the wiring of the ranks of a job from the latencies of few pairs. It is collective; the settings of rank 0 count. Others than rank 0 get nil.
//
// Rank 0 plans. Each round costs a message of 12 bytes per pair to all ranks, a barrier, and O(log n) messages of each
// rank. These bring 8 bytes of each rank of a pair to rank 0. A reading is the lower quartile of samples of half the round trip, in the faster
// direction. The end of the context, on any rank, or of the budget ends the measurement after the round
// under way; the result is then made of what there is, and an error if that is nothing. An error of rank 0 is one
// on all ranks. The garbage collector of the process is off while rounds are measured.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	return harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (*Result, error) { return run(c, &s) })
}

// plan is what all ranks need of the settings.
type plan struct {
	Bytes   int `json:"bytes"`
	Samples int `json:"samples"`
}

func run(c *harness.Conductor, s *Settings) (*Result, error) {
	p, err := harness.Share(c.Comm, c, func() (plan, error) {
		return plan{cmp.Or(s.Bytes, defaultBytes), cmp.Or(s.Samples, defaultSamples)}, s.validate(c.Comm.Size())
	})
	if err != nil {
		return nil, err
	}
	places, err := mpi.GatherPlaces(c.Comm)
	if err != nil {
		return nil, fmt.Errorf("adaptive: names of the hosts: %w", err)
	}
	defer harness.PauseCollector(c.Comm)()
	probe := pingpong.New(c.Comm, p.Bytes, p.Samples)
	if peer := c.Comm.Rank() ^ 1; peer < c.Comm.Size() {
		if err := c.With(peer, func() error { return probe.WarmUp(peer, []int{p.Bytes}) }); err != nil {
			return nil, fmt.Errorf("adaptive: rank %d: warming up: %w", c.Comm.Rank(), err)
		}
	}
	exchange := func(found []float64, peer int, _ bool, _ int) ([]float64, error) {
		reading, err := probe.Pair(peer, p.Bytes)
		return append(found, reading.Q1), err
	}
	var r *Result
	err = c.LeadPairs(s.Budget, exchange, func(play harness.PlayPairs) (err error) {
		if s.Order == nil {
			s.Order = orderOf(places)
		}
		progress := s.Steps("rounds")
		progress(0, 0)
		r, err = find(c.Comm.Size(), &ranks{c, play, progress, 0}, s)
		if errors.Is(err, errStop) && c.Stopped() == harness.StoppedByBudget {
			err = fmt.Errorf("%w: give it a larger budget", err)
		}
		return err
	})
	if err != nil || r == nil {
		return nil, err
	}
	r.Stopped = c.Stopped()
	return r, nil
}

// ranks is the oracle of rank 0.
type ranks struct {
	*harness.Conductor
	play     harness.PlayPairs
	progress func(done, of int)
	rounds   int
}

// read is one round. The faster direction of a pair counts.
func (o *ranks) read(dst []float64, pairs []pair) error {
	if len(pairs) == 0 {
		return nil
	}
	var round []harness.Pair
	for _, p := range pairs {
		round = append(round, harness.Pair{A: int(p.a), B: int(p.b)})
	}
	rows, err := o.play([][]harness.Pair{round}, nil)
	if err != nil {
		return err
	}
	if o.Stopped() != "" {
		return errStop
	}
	found := make(map[int]float64, len(rows)) // by rank
	for _, row := range rows {
		found[row.From] = row.Values[0]
	}
	for k, p := range pairs {
		dst[k] = min(found[int(p.a)], found[int(p.b)]) // of a clock that stands still neither tells anything
	}
	o.rounds++
	o.progress(o.rounds, o.rounds)
	return nil
}

// orderOf is the order of the hosts of ranks by the numbers in their names: n2 comes before n10. It is nil where all names
// are the same.
func orderOf(places []mpi.Place) []int {
	var names []string
	for _, p := range places {
		names = append(names, p.Host)
	}
	slices.SortFunc(names, hostlist.Naturally)
	names = slices.Compact(names)
	if len(names) < 2 {
		return nil
	}
	number := make(map[string]int, len(names))
	for k, name := range names {
		number[name] = k
	}
	keys := make([]int, len(places))
	for rank, p := range places {
		keys[rank] = number[p.Host]
	}
	return keys
}
