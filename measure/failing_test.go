package measure_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

var errBroken = errors.New("broken on purpose")

// breaking is a rank whose communicator fails once.
type breaking struct {
	mpi.Communicator
	left *int // operations until then
}

func (b breaking) next() error {
	if *b.left--; *b.left == 0 {
		return errBroken
	}
	return nil
}

func (b breaking) Send(buf []byte, dst, tag int) error {
	if err := b.next(); err != nil {
		return err
	}
	return b.Communicator.Send(buf, dst, tag)
}

func (b breaking) Recv(buf []byte, src, tag int) error {
	if err := b.next(); err != nil {
		return err
	}
	return b.Communicator.Recv(buf, src, tag)
}

func (b breaking) Fail(err error) { b.Communicator.(mpi.Failer).Fail(err) }

func (b breaking) Split(color, key int) (mpi.Communicator, error) {
	if err := b.next(); err != nil {
		return nil, err
	}
	c, err := b.Communicator.(mpi.Splitter).Split(color, key)
	return breaking{c, b.left}, err
}

func (b breaking) NewRequests() mpi.Requests {
	return breakingRequests{b.Communicator.(mpi.NonBlocking).NewRequests(), b}
}

type breakingRequests struct {
	mpi.Requests
	breaking
}

func (b breakingRequests) Isend(buf []byte, dst, tag int) error {
	if err := b.next(); err != nil {
		return err
	}
	return b.Requests.Isend(buf, dst, tag)
}

func (b breakingRequests) Irecv(buf []byte, src, tag int) error {
	if err := b.next(); err != nil {
		return err
	}
	return b.Requests.Irecv(buf, src, tag)
}

func (b breakingRequests) WaitAll() error {
	if err := b.next(); err != nil {
		return err
	}
	return b.Requests.WaitAll()
}

// TestFailingRankHangsNobody: whatever is measured, an operation that fails once on one rank, at any moment, is an error of the whole job.
func TestFailingRankHangsNobody(t *testing.T) {
	t.Parallel()
	const ranks = 6
	moments := 1
	if tooltest.Long() {
		moments = 4
	}
	control := harness.Control{Silence: -1} // nobody ends the job but the rank that fails
	kinds := watched(t, ranks, -1)
	kinds["latency"] = func(c mpi.Communicator) error {
		_, err := measure.Run(t.Context(), c, &measure.Settings{Control: control, Sampling: measure.Sampling{Samples: 5, Repetitions: 2}})
		return err
	}
	kinds["oneway"] = func(c mpi.Communicator) error {
		_, err := oneway.Measure(t.Context(), c, &oneway.Settings{Control: control, Repetitions: 3, Samples: 3})
		return err
	}
	kinds["plogp"] = func(c mpi.Communicator) error {
		_, err := plogp.Measure(t.Context(), c, &plogp.Settings{Control: control, Longest: 4, Samples: 2, LongestRow: 20, ExtraSizes: -1})
		return err
	}
	kinds["discover"] = func(c mpi.Communicator) error {
		_, err := measure.Discover(t.Context(), c, &measure.DiscoverSettings{
			Control: control, Patterns: -1, Sampling: measure.Sampling{Samples: 5, Repetitions: 1},
		})
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, work := range kinds {
		run := func(lost, moment int) (left int, err error) {
			left = moment
			err = local.Run(ranks, nil, func(c mpi.Communicator) error {
				if c.Rank() == lost {
					c = breaking{c, &left}
				}
				return work(c)
			})
			return left, err
		}
		for _, lost := range []int{0, 3} {
			left, err := run(lost, math.MaxInt)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for range moments {
				moment := 1 + rng.IntN(math.MaxInt-left)
				// Where times decide, fewer operations than that may be enough.
				if left, err := run(lost, moment); left <= 0 && !errors.Is(err, errBroken) {
					t.Errorf("%s: rank %d fails at operation %d: error %v, want %v", name, lost, moment, err, errBroken)
				}
			}
		}
	}
}
