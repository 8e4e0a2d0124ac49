package bcast_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// Once a broadcast is over, nothing of the broadcaster holds the buffer: a panel of gigabytes that the application lets
// go of is memory again, though the broadcaster stays.
func TestBufferIsLetGo(t *testing.T) {
	const size, limit = 64 << 10, time.Minute
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		b, err := bcast.New(world, &bcast.Settings{ModelOnly: true})
		if err != nil {
			return err
		}
		for _, plan := range plansIn(world, 1000) {
			for _, begun := range []bool{false, true} {
				b.Decide(plan, size, 0)
				gone := make(chan bool)
				err := func() error {
					buf := make([]byte, size)
					runtime.AddCleanup(&buf[0], func(struct{}) { close(gone) }, struct{}{})
					if !begun {
						return b.Bcast(buf, 0)
					}
					p, err := b.Ibcast(buf, 0)
					if err != nil {
						return err
					}
					return p.Wait()
				}()
				if err != nil {
					return err
				}
				if err := world.Send(nil, 1-world.Rank(), 1); err != nil { // the other rank reads the buffer until its broadcast is over
					return err
				}
				if err := world.Recv(nil, 1-world.Rank(), 1); err != nil {
					return err
				}
				if !collected(gone, limit) {
					return fmt.Errorf("rank %d: %s, Ibcast %v: the buffer is still held", world.Rank(), plan.How(), begun)
				}
			}
		}
		runtime.KeepAlive(b)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// collected waits until the collector has found something unused.
func collected(gone <-chan bool, limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		runtime.GC()
		select {
		case <-gone:
			return true
		case <-time.After(time.Millisecond):
		}
	}
	return false
}

// dying fails at one of its sends or receives, in the middle of a message.
type dying struct {
	mpi.Communicator
	left int
}

func (d *dying) cut() error {
	if d.left--; d.left < 0 {
		return errInjected
	}
	return nil
}

func (d *dying) Send(buf []byte, dst, tag int) error {
	if err := d.cut(); err != nil {
		return err
	}
	return d.Communicator.Send(buf, dst, tag)
}

func (d *dying) Recv(buf []byte, src, tag int) error {
	if err := d.cut(); err != nil {
		return err
	}
	return d.Communicator.Recv(buf, src, tag)
}

// After a broadcast that was cut short on this rank, what is asked for later neither reads nor writes a buffer: not the one of
// then, of which a part is there, nor another.
func TestCutShortBroadcastLeavesBuffersAlone(t *testing.T) {
	const size, segment = 10_000, 1000
	for left := range 12 {
		err := local.Run(2, nil, func(world mpi.Communicator) error {
			d := &dying{plain{world}, math.MaxInt}
			native := &silent{Communicator: d}
			b, err := bcast.New(native, &bcast.Settings{ModelOnly: true})
			if err != nil {
				return err
			}
			b.Decide(nativePlan, 8, 0)
			before, err := b.Ibcast(nil, 0)
			if err != nil {
				return err
			}
			buf := make([]byte, size)
			if world.Rank() == 0 {
				d.left = left
			}
			err = by(b, predict.Plan{Algorithm: schedule.Chain{}, Segment: segment}, size, 1)(buf) // ten receives, of what is buffered
			if world.Rank() == 1 {
				return err
			}
			if (err != nil) != (left < 10) {
				return fmt.Errorf("%d transfers: %w", left, err)
			}
			if err == nil {
				return nil
			}
			other := make([]byte, 8)
			_, begun := b.Ibcast(other, 0)
			for what, again := range map[string]error{
				"Bcast": b.Bcast(buf, 0), "native Bcast": b.Bcast(other, 0), "Ibcast": begun, "Tune": b.Tune([]int{0}, 16),
			} {
				if again == nil {
					return fmt.Errorf("cut after %d transfers: %s works", left, what)
				}
			}
			if err := before.Wait(); err != nil {
				return fmt.Errorf("cut after %d transfers: a broadcast that was done before: %w", left, err)
			}
			if native.calls != 0 || d.left != -1 {
				return fmt.Errorf("cut after %d transfers: %d native broadcasts and %d transfers came after it", left, native.calls, -1-d.left)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
