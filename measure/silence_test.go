package measure_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// silent is a rank that falls silent in its first message with a tag from least on, until the others
// have ended.
type silent struct {
	mpi.Communicator
	least int
	over  <-chan struct{}
}

func (s silent) Send(buf []byte, dst, tag int) error {
	if tag >= s.least && tag < mpi.MaxTag { // which collects the names of hosts
		<-s.over
	}
	return s.Communicator.Send(buf, dst, tag)
}

func (s silent) Fail(err error) { s.Communicator.(mpi.Failer).Fail(err) }

func (s silent) Split(color, key int) (mpi.Communicator, error) {
	c, err := s.Communicator.(mpi.Splitter).Split(color, key)
	if color == 0 && key == s.Rank() { // a duplicate
		c = silent{c, s.least, s.over}
	}
	return c, err
}

// spread says of each rank that it is on a host of its own.
type spread struct{ mpi.Communicator }

func (s spread) Place() mpi.Place { return mpi.Place{Host: fmt.Sprint("host", s.Rank())} }

func (s spread) Fail(err error) { s.Communicator.(mpi.Failer).Fail(err) }

func (s spread) Split(color, key int) (mpi.Communicator, error) {
	c, err := s.Communicator.(mpi.Splitter).Split(color, key)
	if color == 0 && key == s.Rank() { // a duplicate
		c = spread{c}
	}
	return c, err
}

// watched are the measurements in which rank 0 leads, with what a rank may be silent for.
func watched(t *testing.T, ranks int, silence time.Duration) map[string]func(mpi.Communicator) error {
	t.Helper()
	star, err := gen.Parse("star:6")
	if err != nil {
		t.Fatal(err)
	}
	var ring []model.Transfer
	for rank := range ranks {
		ring = append(ring, model.Transfer{Src: rank, Dst: (rank + 1) % ranks, Bytes: 1000})
	}
	ctx, control := context.Background(), harness.Control{Silence: silence}
	return map[string]func(mpi.Communicator) error{
		"check": func(c mpi.Communicator) error {
			_, err := check.Measure(ctx, c, &check.Settings{Graph: star.Graph, Bytes: 1000, Silence: silence})
			return err
		},
		"few pairs": func(c mpi.Communicator) error {
			return measure.FewPairsAlone(ctx, c, control)
		},
		"throughput": func(c mpi.Communicator) error {
			_, err := throughput.Measure(ctx, c, &throughput.Settings{
				Topology: &topology.Result{Graph: star.Graph, Hierarchy: star.Hierarchy}, Load: throughput.Load{Size: 1000, Messages: 4, Samples: 1}, Control: control,
			})
			return err
		},
		"concurrent": func(c mpi.Communicator) error {
			_, err := concurrent.Measure(ctx, c, &concurrent.Settings{Patterns: [][]model.Transfer{ring}, MaxIterations: 10, Control: control})
			return err
		},
		"distance": func(c mpi.Communicator) error {
			_, err := servet.Distance(ctx, spread{c}, &servet.Settings{Bytes: 1000, Control: control})
			return err
		},
		"access": func(c mpi.Communicator) error {
			_, err := servet.Access(ctx, spread{c}, &servet.Settings{Bytes: 1000, Control: control})
			return err
		},
		"memory": func(c mpi.Communicator) error {
			_, err := servet.Memory(ctx, spread{c}, &servet.InsideSettings{Bytes: 1000, Control: control})
			return err
		},
		"cache": func(c mpi.Communicator) error {
			_, err := servet.Caches(ctx, spread{c}, &servet.InsideSettings{Bytes: 64 << 10, Control: control})
			return err
		},
	}
}

// TestSilentRankIsNamedByAll: whatever is measured, a rank that falls silent ends the job, and is named.
func TestSilentRankIsNamedByAll(t *testing.T) {
	t.Parallel()
	const ranks, lost = 6, 3
	silence := time.Second // more than a healthy rank is late by on a busy machine
	if tooltest.Long() {
		silence *= 2
	}
	var all sync.WaitGroup // at once, for they only wait
	for name, work := range watched(t, ranks, silence) {
		all.Go(func() {
			least := harness.FirstTag // a message of the measurement's own
			switch name {
			case "choice", "few pairs":
				least = harness.FirstTag - 2 // of pingpong
			case "access", "memory", "cache":
				least = 0 // the rank only meets others: it uses no network, or none at all is used
			}
			over := make(chan struct{})
			var once sync.Once
			err := local.Run(ranks, nil, func(c mpi.Communicator) error {
				if c.Rank() == lost {
					return work(silent{c, least, over})
				}
				defer once.Do(func() { close(over) })
				return work(c)
			})
			var s *harness.SilentError
			if !errors.As(err, &s) || s.Rank != lost && s.Peer != lost {
				t.Errorf("%s: error %v, want one that names rank %d", name, err, lost)
			}
		})
	}
	all.Wait()
}

// between is a rank that falls silent the n-th time that it sends something or duplicates its communicator.
type between struct {
	mpi.Communicator
	left *int
	over <-chan struct{}
}

func (b between) count() {
	if *b.left--; *b.left == 0 {
		<-b.over
	}
}

func (b between) Send(buf []byte, dst, tag int) error {
	b.count()
	return b.Communicator.Send(buf, dst, tag)
}

func (b between) Fail(err error) { b.Communicator.(mpi.Failer).Fail(err) }

func (b between) Split(color, key int) (mpi.Communicator, error) {
	b.count()
	c, err := b.Communicator.(mpi.Splitter).Split(color, key)
	if color == 0 && key == b.Rank() { // a duplicate
		c = between{c, b.left, b.over}
	}
	return c, err
}

// TestSilentRankEndsDiscover: a rank that has come to Discover and falls silent at any moment ends the job, also where no part is under
// way.
func TestSilentRankEndsDiscover(t *testing.T) {
	t.Parallel()
	const ranks, lost = 4, 2
	silence := 200 * time.Millisecond // whoever is late by more on a busy machine is silent, too
	if tooltest.Long() {
		silence = 500 * time.Millisecond
	}
	var all sync.WaitGroup // at once, for they only wait
	for _, moment := range []int{2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233} {
		all.Go(func() {
			over := make(chan struct{})
			var once sync.Once
			err := local.Run(ranks, nil, func(c mpi.Communicator) error {
				left := moment
				if c.Rank() == lost {
					c = between{c, &left, over}
				} else {
					defer once.Do(func() { close(over) })
				}
				_, err := measure.Discover(t.Context(), c, &measure.DiscoverSettings{
					Control:  harness.Control{Silence: silence},
					Sampling: measure.Sampling{Repetitions: 1, Samples: 5}, Patterns: -1,
				})
				return err
			})
			var s *harness.SilentError
			if !errors.As(err, &s) {
				t.Errorf("silent from moment %d on: error %v, want one of silence", moment, err)
			}
		})
	}
	all.Wait()
}

// TestLostRankEndsSimulations: in virtual time nobody waits in vain, and nobody is watched.
func TestLostRankEndsSimulations(t *testing.T) {
	cluster, err := gen.Parse("star:6")
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range watched(t, 6, 0) {
		faults := simnet.Faults{Lost: []simnet.LostRank{{Rank: 3, From: 1e-6}}}
		if err := simnet.Run(cluster.Graph, nil, &simnet.Settings{Faults: faults}, work); !errors.Is(err, simnet.ErrDeadlock) {
			t.Errorf("%s: %v, want a deadlock", name, err)
		}
	}
}
