package adaptive

import (
	"cmp"
	"context"
	"encoding/binary"
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
// Rank 0 plans. Each round costs a message of 8 bytes per pair to all ranks, a barrier, and O(log n) messages of each
// rank. These bring 8 bytes of each rank of a pair to rank 0. A reading is the lower quartile of samples of half the round trip, in the faster
// direction. The end of the context, on any rank, or of the budget ends the measurement after the round
// under way; the result is then made of what there is, and an error if that is nothing. An error of rank 0 is one
// on all ranks. The garbage collector of the process is off while rounds are measured.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	var r *Result
	err := harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (err error) {
		r, err = run(c, &s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
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
	defer harness.PauseCollector()()
	w := &worker{Conductor: c, bytes: p.Bytes, probe: pingpong.New(c.Comm, p.Bytes, p.Samples)}
	if peer := c.Comm.Rank() ^ 1; peer < c.Comm.Size() {
		if err := c.With(peer, func() error { return w.probe.WarmUp(peer, []int{p.Bytes}) }); err != nil {
			return nil, fmt.Errorf("adaptive: rank %d: warming up: %w", c.Comm.Rank(), err)
		}
	}
	var r *Result
	err = c.Lead(s.Budget, w.act, func(play harness.Play) (err error) {
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

// A worker is a rank that takes part in rounds.
type worker struct {
	*harness.Conductor
	bytes int
	probe *pingpong.Probe
}

// act is one round of the pairs in data. Both ranks of a pair return the lower quartile of what they have
// timed; other ranks nothing, and nobody once the ranks have stopped.
func (w *worker) act(data []byte) ([]float64, error) {
	if going, err := w.Meet(); err != nil || !going {
		return nil, err
	}
	for ; len(data) > 0; data = data[pairBytes:] {
		a, b := int(binary.LittleEndian.Uint32(data)), int(binary.LittleEndian.Uint32(data[4:]))
		peer := a + b - w.Comm.Rank()
		if peer != a && peer != b {
			continue
		}
		var reading pingpong.Summary
		err := w.With(peer, func() (err error) {
			reading, err = w.probe.Pair(peer, w.bytes)
			return err
		})
		return []float64{reading.Q1}, err
	}
	return nil, nil
}

const pairBytes = 8 // two ranks of four

// ranks is the oracle of rank 0.
type ranks struct {
	*harness.Conductor
	play     harness.Play
	progress func(done, of int)
	rounds   int
}

// read is one round. The faster direction of a pair counts.
func (o *ranks) read(dst []float64, pairs []pair) error {
	if len(pairs) == 0 {
		return nil
	}
	data := make([]byte, 0, pairBytes*len(pairs))
	for _, p := range pairs {
		data = binary.LittleEndian.AppendUint32(data, uint32(p.a))
		data = binary.LittleEndian.AppendUint32(data, uint32(p.b))
	}
	found, err := o.play(data)
	if err != nil {
		return err
	}
	if o.Stopped() != "" {
		return errStop
	}
	for k, p := range pairs {
		dst[k] = min(found[p.a][0], found[p.b][0]) // of a clock that stands still neither tells anything
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
