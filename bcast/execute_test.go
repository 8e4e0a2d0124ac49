package bcast_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// traced is a communicator that counts the transfers under way, and fails at
// one of its operations.
type traced struct {
	mpi.Communicator
	underWay int
	calls    int
	failAt   int // the number of the call that fails, from 1; 0: none
}

var errInjected = errors.New("injected")

func (c *traced) fails() error {
	if c.calls++; c.calls == c.failAt {
		return errInjected
	}
	return nil
}

func (c *traced) NewRequests() mpi.Requests {
	return &tracedRequests{c, c.Communicator.(mpi.NonBlocking).NewRequests(), 0}
}

type tracedRequests struct {
	c *traced
	mpi.Requests
	pending int
}

func (r *tracedRequests) start(err error, transfer func() error) error {
	if err != nil {
		return err
	}
	r.pending++
	r.c.underWay++
	return transfer()
}

func (r *tracedRequests) Isend(buf []byte, dst, tag int) error {
	return r.start(r.c.fails(), func() error { return r.Requests.Isend(buf, dst, tag) })
}

func (r *tracedRequests) Irecv(buf []byte, src, tag int) error {
	return r.start(r.c.fails(), func() error { return r.Requests.Irecv(buf, src, tag) })
}

func (r *tracedRequests) Test() (bool, error) {
	if err := r.c.fails(); err != nil {
		return false, err
	}
	done, err := r.Requests.Test()
	if done {
		r.c.underWay -= r.pending
		r.pending = 0
	}
	return done, err
}

func (r *tracedRequests) WaitAll() error {
	if err := r.c.fails(); err != nil {
		return err
	}
	r.c.underWay -= r.pending
	r.pending = 0
	return r.Requests.WaitAll()
}

// nothingUnderWay runs every algorithm and expects that when a broadcast
// returns, every transfer has been waited for: the buffer is the caller's again.
func nothingUnderWay(world mpi.Communicator) error {
	c := &traced{Communicator: world}
	b, err := bcast.New(c, &bcast.Settings{ModelOnly: true})
	if err != nil {
		return err
	}
	for i, a := range casttest.Algorithms() {
		for _, segment := range []int{0, 300} {
			if err := by(b, predict.Plan{Algorithm: a, Segment: segment}, 3000, i%world.Size())(make([]byte, 3000)); err != nil {
				return err
			}
			if c.underWay != 0 {
				return fmt.Errorf("%v, segment %d: rank %d has %d transfers under way after the broadcast", a, segment, world.Rank(), c.underWay)
			}
		}
	}
	return nil
}

func TestNothingIsUnderWayAfterABroadcast(t *testing.T) {
	for _, mode := range modes {
		for _, ranks := range []int{2, 3, 7, 40} {
			if err := local.Run(ranks, &local.Settings{Mode: mode}, nothingUnderWay); err != nil {
				t.Errorf("mode %v, %d ranks: %v", mode, ranks, err)
			}
		}
	}
}

// overwritten broadcasts again and again, and every rank spoils the buffer as
// soon as its broadcast returns: what others still read of it would be wrong.
func overwritten(world mpi.Communicator, rounds, size int) error {
	b, err := bcast.New(world, &bcast.Settings{ModelOnly: true})
	if err != nil {
		return err
	}
	buf := make([]byte, size)
	for round := range rounds {
		for i, a := range casttest.Algorithms() {
			root := (round + i) % world.Size()
			run := by(b, predict.Plan{Algorithm: a, Segment: (size + 2) / 3}, size, root)
			pattern := uint64(1000*round + i)
			fill(buf, pattern, world.Rank() == root)
			if err := run(buf); err != nil {
				return err
			}
			if !matches(buf, pattern) {
				return fmt.Errorf("%v, round %d: rank %d has bytes of a buffer that its sender had back", a, round, world.Rank())
			}
			fill(buf, ^pattern, true)
		}
	}
	return nil
}

func TestBufferIsFreeWhenTheBroadcastReturns(t *testing.T) {
	bytes := 100 << 10
	if testing.Short() { // the race detector watches each of them
		bytes = 10 << 10
	}
	for _, mode := range modes {
		for _, ranks := range []int{2, 5} {
			err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error { return overwritten(hide(world, "requests"), 6, bytes) })
			if err != nil {
				t.Errorf("mode %v, %d ranks: %v", mode, ranks, err)
			}
		}
	}
}

// Whichever call fails first, with transfers under way or none: the error
// comes back, and again from all that is asked of the broadcaster later, which
// touches the communicator no more.
func TestNothingRunsAfterAFailure(t *testing.T) {
	const ranks, size = 3, 3000
	for failAt := 1; ; failAt++ {
		reached := false
		err := local.Run(ranks, nil, func(world mpi.Communicator) error {
			c := &traced{Communicator: world}
			b, err := bcast.New(c, &bcast.Settings{ModelOnly: true})
			if err != nil {
				return err
			}
			run := by(b, predict.Plan{Algorithm: schedule.Chain{}, Segment: 500}, size, 0)
			if world.Rank() == 1 { // in the middle of the chain
				c.calls, c.failAt = 0, failAt
			}
			err = run(make([]byte, size))
			if world.Rank() != 1 {
				return nil // it fails when rank 1 has gone, or it does not
			}
			if reached = c.calls >= failAt; !reached {
				return err
			}
			if !errors.Is(err, errInjected) {
				return fmt.Errorf("call %d fails: error %v", failAt, err)
			}
			calls := c.calls
			for _, again := range []error{b.Bcast(make([]byte, size), 0), b.Bcast(nil, 0), b.Tune([]int{0}, 8), run(make([]byte, size))} {
				if !errors.Is(again, errInjected) {
					return fmt.Errorf("call %d fails: later error %v", failAt, again)
				}
			}
			if c.calls != calls {
				return fmt.Errorf("call %d fails: the communicator is used afterwards", failAt)
			}
			return errInjected
		})
		if !reached {
			if err != nil || failAt < 20 {
				t.Errorf("%d calls, then %v", failAt-1, err)
			}
			return
		}
		if !errors.Is(err, errInjected) {
			t.Fatal(err)
		}
	}
}

// refusing is a library whose native broadcast fails.
type refusing struct{ mpi.Communicator }

func (refusing) Bcast([]byte, int) error { return errInjected }

func TestNothingRunsAfterAFailureOfTheLibrary(t *testing.T) {
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		b, err := bcast.New(refusing{world}, &bcast.Settings{ModelOnly: true})
		if err != nil {
			return err
		}
		if err := by(b, nativePlan, 9, 0)(make([]byte, 9)); !errors.Is(err, errInjected) {
			return fmt.Errorf("error %v", err)
		}
		if err := b.Bcast(make([]byte, 9), 0); !errors.Is(err, errInjected) {
			return fmt.Errorf("later error %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// exchanges passes the part of every rank around a ring, all ranks sending and
// receiving at once: in segments, of which a rank sends on what it had one round
// before.
func exchanges(world mpi.Communicator) error {
	n, me := world.Size(), world.Rank()
	if n < 2 {
		return nil
	}
	b, err := bcast.New(world, &bcast.Settings{ModelOnly: true})
	if err != nil {
		return err
	}
	for _, size := range []int{1, 40, 9000, 70_000} {
		for _, pieces := range []int{1, 3} {
			buf := make([]byte, n*pieces*size)
			own := func(rank int) []byte { return buf[rank*pieces*size : (rank+1)*pieces*size] }
			fill(own(me), uint64(me), true)
			var ops []schedule.Op
			for round := range n - 1 {
				for piece := range pieces {
					out, in := ((me-round+n)%n*pieces+piece)*size, ((me-round-1+n)%n*pieces+piece)*size
					ops = append(ops, casttest.Exchange((me+1)%n, out, size), casttest.Recv((me+n-1)%n, in, size))
				}
			}
			for _, blocking := range []bool{false, true} {
				script := make(casttest.Script, n)
				script[me] = ops
				if err := by(b, predict.Plan{Algorithm: script, Blocking: blocking}, len(buf), 0)(buf); err != nil {
					return err
				}
				for rank := range n {
					if !matches(own(rank), uint64(rank)) {
						return fmt.Errorf("rank %d: wrong bytes from rank %d, %d pieces of %d", me, rank, pieces, size)
					}
					if rank != me {
						clear(own(rank))
					}
				}
			}
		}
	}
	return nil
}

func TestExecutorExchanges(t *testing.T) {
	for _, mode := range modes {
		for _, ranks := range []int{2, 3, 4, 7} {
			for _, abilities := range []string{"nothing", "requests", "steps"} {
				err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error {
					return exchanges(hide(world, abilities))
				})
				if err != nil {
					t.Errorf("mode %v, %d ranks, %s: %v", mode, ranks, abilities, err)
				}
			}
		}
	}
}
