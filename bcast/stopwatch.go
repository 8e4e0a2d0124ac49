package bcast

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A stopwatch takes the time of a broadcast from the moment the root starts
// until the last rank has the data. All of its functions are collective.
//
// Each rank reads its own clock when it is done, and translates the reading to
// the root's clock. For that it sends the root some empty messages, which the
// root answers with its reading t: sent at t1 and answered by t3, each says that
// the root's clock is ahead by at least t-t3 and at most t-t1. If no difference
// at all is within these bounds on every rank, the clocks are taken to be
// one: ranks of one host (whose monotonic clock is shared) or of one
// process. Otherwise the middle of the narrowest bounds is taken, anew before
// each round, because clocks of hosts drift apart by up to 0.1 ms per second.
type stopwatch struct {
	*crew
	now    func() float64
	ahead  float64 // s, of the root's clock
	doubt  float64 // s, the largest possible error of ahead on any rank; 0 with one clock
	settle func()  // gives the other ranks time to enter the broadcast
}

func newStopwatch(exec *executor, root int, crowded bool) (*stopwatch, error) {
	s := &stopwatch{crew: newCrew(exec, root), settle: spin}
	if crowded {
		s.settle = func() { time.Sleep(crowdedSettle) } // the others need the cores
	}
	if clock, ok := exec.comm.(mpi.Clock); ok {
		s.now = clock.Now
	} else {
		begin := time.Now()
		s.now = func() float64 { return time.Since(begin).Seconds() }
	}
	return s, s.compareClocks()
}

const (
	settle        = 50 * time.Microsecond
	crowdedSettle = 300 * time.Microsecond
)

func spin() {
	for begin := time.Now(); time.Since(begin) < settle; {
		runtime.Gosched()
	}
}

// round prepares for some timings in short succession.
func (s *stopwatch) round() error {
	if s.doubt == 0 {
		return nil
	}
	return s.compareClocks()
}

func (s *stopwatch) compareClocks() error {
	const readings = 8
	comm, tag := s.exec.comm, s.exec.tag
	var reading [8]byte
	least, most := math.Inf(-1), math.Inf(1) // bounds of ahead
	for rank := range comm.Size() {
		if rank == s.root || comm.Rank() != s.root && comm.Rank() != rank {
			continue
		}
		for range readings {
			if comm.Rank() == s.root {
				if err := comm.Recv(nil, rank, tag); err != nil {
					return s.failed(rank, err)
				}
				putFloat(reading[:], s.now())
				if err := comm.Send(reading[:], rank, tag); err != nil {
					return s.failed(rank, err)
				}
				continue
			}
			sent := s.now()
			if err := comm.Send(nil, s.root, tag); err != nil {
				return s.failed(s.root, err)
			}
			if err := comm.Recv(reading[:], s.root, tag); err != nil {
				return s.failed(s.root, err)
			}
			t := getFloat(reading[:])
			least, most = max(least, t-s.now()), min(most, t-sent)
		}
	}
	s.ahead, s.doubt = 0, 0
	if comm.Rank() != s.root && (least > 0 || most < 0) {
		s.ahead, s.doubt = (least+most)/2, max(0, most-least)/2
	}
	var err error
	if s.doubt, err = s.collectMax(s.doubt); err != nil {
		return err
	}
	putFloat(reading[:], s.doubt)
	if err := s.tell(reading[:]); err != nil {
		return err
	}
	s.doubt = getFloat(reading[:])
	return nil
}

// failed is an error of compareClocks.
func (s *stopwatch) failed(peer int, err error) error {
	return s.noted(fmt.Errorf("rank %d: compare clocks, peer %d: %w", s.exec.comm.Rank(), peer, err))
}

// time lets all ranks run a broadcast and returns its time in s, at the root;
// 0 elsewhere. Each rank tells the root that it is about to run, so nobody is
// late, and no rank is held back by another's leaving a barrier.
func (s *stopwatch) time(run func() error) (float64, error) {
	if err := s.collect(nil, nil, func([]byte) {}); err != nil {
		return 0, err
	}
	if s.isRoot() {
		s.settle()
	}
	start := s.now()
	if err := run(); err != nil {
		return 0, err
	}
	end, err := s.collectMax(s.now() + s.ahead)
	if err != nil || !s.isRoot() {
		return 0, err
	}
	return end - start, nil
}

// anyEnded tells all ranks whether the context of any of them has ended.
func (s *stopwatch) anyEnded(ctx context.Context) (bool, error) {
	ended := 0.0
	if ctx.Err() != nil {
		ended = 1
	}
	ended, err := s.collectMax(ended)
	if err != nil {
		return false, err
	}
	var told [8]byte
	putFloat(told[:], ended)
	err = s.tell(told[:])
	return getFloat(told[:]) > 0, err
}

// collectMax returns the greatest value of all ranks, at the root; elsewhere
// some value between the own and that.
func (s *stopwatch) collectMax(v float64) (float64, error) {
	var own, child [8]byte
	putFloat(own[:], v)
	err := s.collect(own[:], child[:], func(child []byte) {
		putFloat(own[:], max(getFloat(own[:]), getFloat(child)))
	})
	return getFloat(own[:]), err
}

func putFloat(b []byte, v float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(v)) }

func getFloat(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
