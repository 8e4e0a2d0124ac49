package bcast_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// plansIn are plans of all algorithms in segments, and native if there is one.
func plansIn(world mpi.Communicator, segment int) []predict.Plan {
	var all []predict.Plan
	for _, a := range casttest.Algorithms() {
		all = append(all, predict.Plan{Algorithm: a, Segment: segment})
	}
	if _, ok := world.(mpi.NativeBcast); ok {
		all = append(all, nativePlan)
	}
	return all
}

// underWay begins broadcasts by every plan, works a little, and ends them: some
// ranks by asking, some by waiting, and the buffer is spoiled at once.
func underWay(world mpi.Communicator) error {
	b, err := bcast.New(world, &bcast.Settings{ModelOnly: true})
	if err != nil {
		return err
	}
	ranks := world.Size()
	for i, plan := range plansIn(world, 1000) {
		for _, size := range []int{1, 999, 40_000} {
			root := (i + size) % ranks
			var buf []byte
			err := verified(world, size, root, func(own []byte) error {
				buf = own
				b.Decide(plan, size, root)
				p, err := b.Ibcast(buf, root)
				if err != nil {
					return err
				}
				if (world.Rank()+i)%2 == 0 {
					return p.Wait()
				}
				for done := false; !done; {
					if done, err = p.Test(); err != nil {
						return err
					}
				}
				return p.Wait() // again
			})
			if err != nil {
				return fmt.Errorf("%v: %w", plan, err)
			}
			clear(buf)
		}
	}
	// As users call it: the first of a class decides, and is done.
	if b, err = bcast.New(world, &bcast.Settings{ModelOnly: true}); err != nil {
		return err
	}
	for _, size := range []int{0, 8, 8, 5000, 5000} {
		for root := range ranks {
			if err := verified(world, size, root, func(buf []byte) error {
				p, err := b.Ibcast(buf, root)
				if err != nil {
					return err
				}
				return p.Wait()
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestIbcast(t *testing.T) {
	for _, mode := range modes {
		for _, ranks := range []int{1, 2, 3, 7} {
			for _, abilities := range []string{"nothing", "requests", "steps", "all"} {
				err := local.Run(ranks, &local.Settings{Mode: mode}, func(world mpi.Communicator) error {
					return underWay(hide(world, abilities))
				})
				if err != nil {
					t.Errorf("mode %v, %d ranks, %s: %v", mode, ranks, abilities, err)
				}
			}
		}
	}
	c, err := gen.Parse("star:7")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*simnet.Settings{overheads, {EagerLimit: -1}} {
		if err := simnet.Run(c.Graph, nil, s, underWay); err != nil {
			t.Errorf("simulated: %v", err)
		}
	}
}

// busy finds that nothing else is taken while a broadcast is under way: one that
// the others join late, and that no library sends before they have.
func busy(world mpi.Communicator) error {
	b, err := bcast.New(world, &bcast.Settings{ModelOnly: true})
	if err != nil {
		return err
	}
	const size, late = 4 << 20, 6
	token := []byte{1}
	if world.Rank() > 0 {
		if err := world.Recv(token, 0, late); err != nil {
			return err
		}
	}
	if err := verified(world, size, 0, func(buf []byte) error {
		b.Decide(plansIn(world, 1<<20)[0], size, 0)
		p, err := b.Ibcast(buf, 0)
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			_, err := b.Ibcast(make([]byte, 8), 0)
			for _, err := range []error{err, b.Tune([]int{0}, 100)} {
				if !isRefused(err) {
					return fmt.Errorf("another call beside a broadcast = %w, want it refused", err)
				}
			}
			for peer := 1; peer < world.Size(); peer++ {
				if err := world.Send(token, peer, late); err != nil {
					return err
				}
			}
		}
		return p.Wait()
	}); err != nil {
		return err
	}
	return verified(world, 100, 0, func(buf []byte) error { return b.Bcast(buf, 0) })
}

// isRefused tells whether an error is that of a call while a broadcast is under way.
func isRefused(err error) bool {
	return err != nil && strings.Contains(err.Error(), "a broadcast is under way: wait for it first")
}

func TestOneBroadcastIsUnderWayAtATime(t *testing.T) {
	if err := local.Run(3, &local.Settings{Mode: local.Rendezvous}, busy); err != nil {
		t.Error(err)
	}
}

// Ranks of a chain compute for as long as the broadcast takes, and look at it
// now and then. In a row that would take the sum of the two; together it takes
// hardly longer than the longer one.
func TestIbcastOverlapsWithComputation(t *testing.T) {
	c, err := gen.Parse("star:5")
	if err != nil {
		t.Fatal(err)
	}
	const size, looks = 1 << 20, 1000
	plan := predict.Plan{Algorithm: schedule.Chain{}, Segment: 16 << 10}
	for _, s := range []*simnet.Settings{overheads, {EagerLimit: -1}} {
		run := func(begins bool, compute float64) float64 {
			end := 0.0
			if err := simnet.Run(c.Graph, nil, s, func(comm mpi.Communicator) error {
				b, err := bcast.New(comm, &bcast.Settings{ModelOnly: true})
				if err != nil {
					return err
				}
				b.Decide(plan, size, 0)
				return verified(comm, size, 0, func(buf []byte) error {
					begin := comm.(mpi.Clock).Now()
					p, err := b.Ibcast(buf, 0)
					if err != nil {
						return err
					}
					if !begins {
						if err := p.Wait(); err != nil {
							return err
						}
					}
					for range looks {
						comm.(*simnet.Comm).Sleep(compute / looks)
						if _, err := p.Test(); err != nil {
							return err
						}
					}
					err = p.Wait()
					end = math.Max(end, comm.(mpi.Clock).Now()-begin)
					return err
				})
			}); err != nil {
				t.Fatal(err)
			}
			return end
		}
		alone := run(false, 0)
		row, together := run(false, alone), run(true, alone)
		if row < 1.9*alone || together > 1.15*alone {
			t.Errorf("a broadcast of %.3g s and computing as long take %.3g s, in a row %.3g", alone, together, row)
		}
	}
}

// Whichever call fails: Test or Wait tells it, and tells it again.
func TestPendingTellsFailures(t *testing.T) {
	for failAt := 1; failAt < 12; failAt++ {
		err := local.Run(3, nil, func(world mpi.Communicator) error {
			c := &traced{Communicator: world}
			b, err := bcast.New(c, &bcast.Settings{ModelOnly: true})
			if err != nil {
				return err
			}
			b.Decide(predict.Plan{Algorithm: schedule.Chain{}, Segment: 500}, 3000, 0)
			if world.Rank() == 1 {
				c.calls, c.failAt = 0, failAt
			}
			p, err := b.Ibcast(make([]byte, 3000), 0)
			for done := false; err == nil && !done; {
				done, err = p.Test()
			}
			if world.Rank() != 1 {
				return nil
			}
			if !errors.Is(err, errInjected) {
				return fmt.Errorf("call %d fails: error %v", failAt, err)
			}
			later := []error{b.Bcast(make([]byte, 8), 0)}
			if p != nil {
				later = append(later, p.Wait())
			}
			for _, again := range later {
				if !errors.Is(again, errInjected) {
					return fmt.Errorf("call %d fails: later error %v", failAt, again)
				}
			}
			return errInjected
		})
		if !errors.Is(err, errInjected) || strings.Contains(err.Error(), "later") {
			t.Error(err)
		}
	}
}

func ibcastAllocations(world mpi.Communicator, plan predict.Plan, counts bool) (float64, error) {
	b, err := bcast.New(world, &bcast.Settings{ModelOnly: true})
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 20_000)
	root := world.Size() - 1
	b.Decide(plan, len(buf), root)
	var failed error
	run := func() {
		p, err := b.Ibcast(buf, root)
		for done := false; err == nil && !done; {
			done, err = p.Test()
		}
		if err != nil && failed == nil {
			failed = err
		}
	}
	const runs = 20
	run()
	if !counts {
		for range runs + 1 {
			run()
		}
		return 0, failed
	}
	return testing.AllocsPerRun(runs, run), failed
}

func TestIbcastDoesNotAllocateOnceWarm(t *testing.T) {
	plan := predict.Plan{Algorithm: schedule.Chain{}, Segment: 3000}
	err := local.Run(3, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
		n, err := ibcastAllocations(world, plan, world.Rank() == 0)
		if err == nil && n != 0 {
			err = fmt.Errorf("%g allocations per Ibcast", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
