package bcast

import (
	"errors"
	"fmt"
	"testing"

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
	exec := newExecutor(c, 5)
	for i, a := range algorithms() {
		for _, segment := range []int{0, 300} {
			p := Problem{Ranks: world.Size(), Root: i % world.Size(), Bytes: 3000, Segment: segment}
			if err := exec.run(a.Ops(nil, p, world.Rank()), make([]byte, p.Bytes)); err != nil {
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
	exec := newExecutor(hide(world, "requests"), 5)
	buf := make([]byte, size)
	for round := range rounds {
		for i, a := range algorithms() {
			p := Problem{Ranks: world.Size(), Root: (round + i) % world.Size(), Bytes: size, Segment: (size + 2) / 3}
			pattern := uint64(1000*round + i)
			fill(buf, pattern, world.Rank() == p.Root)
			if err := exec.run(a.Ops(nil, p, world.Rank()), buf); err != nil {
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
	for _, mode := range modes {
		for _, ranks := range []int{2, 5} {
			err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error { return overwritten(world, 6, 100<<10) })
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
			b, err := New(c, &Settings{ModelOnly: true})
			if err != nil {
				return err
			}
			r := b.newRoute(candidate{Plan{Algorithm: Chain{}, Segment: 500}, 2}, 0)
			if world.Rank() == 1 { // in the middle of the chain
				c.calls, c.failAt = 0, failAt
			}
			err = b.follow(r, make([]byte, size), 0)
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
			_, benchmark := Benchmark(t.Context(), b, nil)
			for _, again := range []error{b.Bcast(make([]byte, size), 0), b.Bcast(nil, 0), b.Tune(0, 8), benchmark} {
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

// refusing is a library whose own broadcast fails.
type refusing struct{ mpi.Communicator }

func (refusing) Bcast([]byte, int) error { return errInjected }

func TestNothingRunsAfterAFailureOfTheLibrary(t *testing.T) {
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		b, err := New(refusing{world}, &Settings{ModelOnly: true})
		if err != nil {
			return err
		}
		if err := b.follow(b.newRoute(newNative(), 0), make([]byte, 9), 0); !errors.Is(err, errInjected) {
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
