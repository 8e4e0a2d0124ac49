package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/adaptive"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

const (
	// Rounds that tell how long all pairs take, in the median.
	trialRounds = 3
	// Of fewer ranks few pairs are no fewer than all: a core and what follows read as much.
	fewestForFew = 64
	// Samples of a pair where nobody has said: the lower quartile leaves two out.
	fewPairsSamples = 10
)

// fewSamples are those of each measurement of few pairs.
func (s *DiscoverSettings) fewSamples() int {
	return max(cmp.Or(s.Samples, fewPairsSamples), fewest)
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

// fewSchedule is the schedule of a result of few pairs.
const fewSchedule = "few pairs"

// isFew tells whether the result is of few pairs.
func (r *Result) isFew() bool { return r.schedule == fewSchedule }

// fewPairs measures as many pairs as tell the groups apart, and adds them to a result on rank 0, which then has what they tell.
// Settings.Record takes them while they are measured. It is collective; the settings of rank 0 count.
func fewPairs(ctx context.Context, comm mpi.Communicator, s *Settings, r *Result) (*topology.Result, error) {
	return harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (found *topology.Result, err error) {
		samples, err := harness.Share(c.Comm, c, func() (int, error) { return s.Samples, nil })
		if err != nil {
			return nil, err
		}
		test := &latencies{probe: pingpong.New(c.Comm, latencySize, samples), plan: &plan{Sizes: []int{latencySize}, Samples: samples}}
		if peer := c.Comm.Rank() ^ 1; peer < c.Comm.Size() {
			if err := c.With(peer, func() error { return test.probe.WarmUp(peer, test.plan.Sizes) }); err != nil {
				return nil, fmt.Errorf("measure: few pairs: rank %d: warming up: %w", c.Comm.Rank(), err)
			}
		}
		err = c.LeadPairs(s.Budget, test.exchange, func(play harness.PlayPairs) (err error) {
			f := newFew(s, r, c.Now)
			read := func(dst []float64, pairs [][2]int32) error {
				rows, err := play([][]harness.Pair{pairsOf(pairs, samples)}, nil)
				if err == nil && c.Stopped() != "" {
					err = adaptive.ErrStop
				}
				if err == nil {
					f.round(dst, pairs, rows)
				}
				return err
			}
			found, err = adaptive.Find(r.Ranks, read, &adaptive.Settings{Seed: s.Seed, Order: orderOf(r.Hosts)})
			f.end(c.Stopped())
			if errors.Is(err, adaptive.ErrStop) && c.Stopped() == harness.StoppedByBudget {
				err = fmt.Errorf("%w: give it a larger budget", err)
			}
			return err
		})
		return found, err
	})
}

func pairsOf(pairs [][2]int32, samples int) (round []harness.Pair) {
	for _, p := range pairs {
		round = append(round, harness.Pair{A: int(p[0]), B: int(p[1]), Task: samples})
	}
	return round
}

// A few adds the measurements of few pairs to a result. A pair's k-th measurement is of repetition k.
type few struct {
	*collector
	progress func(done, of int)
	now      func() float64 // s
	before   int            // rounds
	count    map[[2]int]int // measurements of each pair
	marked   float64        // s, when the record was last marked
}

func newFew(s *Settings, r *Result, now func() float64) *few {
	r.schedule = fewSchedule
	f := &few{collector: newCollector(s, r), progress: s.Steps("rounds"), now: now, before: r.Rounds, count: make(map[[2]int]int), marked: now()}
	for i := range r.measurements {
		f.count[r.measurements[i].pair()] = 1
	}
	f.progress(0, 0)
	return f
}

// markEvery is how often the record is marked: rounds of few pairs are short.
const markEvery = 0.5 // s

// round takes in what both ranks of each pair have found, of which the faster direction counts. It sets dst to the latencies
// of the pairs in s.
func (f *few) round(dst []float64, pairs [][2]int32, rows []harness.Row) {
	r := f.result
	faster := make(map[[2]int]Measurement)
	for _, row := range rows {
		x := measurementsOf(row)[0] // of one size
		p := x.pair()
		if other, known := faster[p]; !known || x.Q1 < other.Q1 {
			faster[p] = x
		}
	}
	for k, of := range pairs {
		p := [2]int{int(min(of[0], of[1])), int(max(of[0], of[1]))}
		x := faster[p]
		if dst[k] = x.Q1; x.Q1 == 0 { // below what the clock can tell
			continue
		}
		x.From, x.To, x.Repetition, x.Round = p[0], p[1], f.count[p], r.Rounds
		f.take(x)
		f.count[p]++
	}
	r.Rounds++
	if now := f.now(); now-f.marked >= markEvery {
		f.mark(r.Rounds, r.Rounds)
		f.marked = now
	}
	f.progress(r.Rounds-f.before, r.Rounds-f.before)
}

// end completes the result.
func (f *few) end(stopped harness.Stopped) {
	r := f.result
	r.TotalRounds = r.Rounds
	r.Stopped = cmp.Or(r.Stopped, stopped)
	f.close()
}

// orderOf is the order of the hosts of ranks by the numbers in their names: n2 comes before n10. It is nil where all names
// are the same.
func orderOf(hosts []string) []int {
	names := slices.Clone(hosts)
	slices.SortFunc(names, hostlist.Naturally)
	names = slices.Compact(names)
	if len(names) < 2 {
		return nil
	}
	order := make([]int, len(hosts))
	for rank, name := range hosts {
		order[rank], _ = slices.BinarySearchFunc(names, name, hostlist.Naturally)
	}
	return order
}
