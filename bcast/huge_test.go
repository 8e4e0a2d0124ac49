//go:build linux && !(386 || arm || mips || mipsle)

package bcast_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// counting is a communicator that transfers short messages, and of long ones checks that MPI can count each.
type counting struct {
	mpi.Communicator
	wrong error
	come  int // bytes of the long ones
}

const longMessage = 4096 // bytes; what the ranks agree on is shorter

func (c *counting) take(buf []byte) error {
	if len(buf) < 1 || len(buf) > schedule.MaxSegment {
		c.wrong = fmt.Errorf("a piece of %d bytes", len(buf))
	}
	c.come += len(buf)
	return c.wrong
}

func (c *counting) Send(buf []byte, dst, tag int) error {
	if len(buf) < longMessage {
		return c.Communicator.Send(buf, dst, tag)
	}
	return c.take(buf)
}

func (c *counting) Recv(buf []byte, src, tag int) error {
	if len(buf) < longMessage {
		return c.Communicator.Recv(buf, src, tag)
	}
	return c.take(buf)
}

func (c *counting) Bcast(buf []byte, root int) error { return c.take(buf) }

func (c *counting) NewRequests() mpi.Requests { return countingRequests{c} }

// countingRequests are done as they begin.
type countingRequests struct{ c *counting }

func (countingRequests) WaitAll() error        { return nil }
func (countingRequests) WaitAny() (int, error) { return -1, nil }
func (countingRequests) Test() (bool, error)   { return true, nil }

func (r countingRequests) Isend(buf []byte, _, _ int) error { return r.c.take(buf) }
func (r countingRequests) Irecv(buf []byte, _, _ int) error { return r.c.take(buf) }
func (r countingRequests) Ibcast(buf []byte, _ int) error   { return r.c.take(buf) }

// 5 GiB and some bytes, which nobody can touch, natively and by every algorithm, whole and in segments of
// lengths up to more than MPI counts: all of them go, in pieces of at most 1 GiB.
func TestMoreThanMPICounts(t *testing.T) {
	size := 5<<30 + 12345
	buf, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(buf)
	err = local.Run(2, nil, func(world mpi.Communicator) error {
		c := &counting{Communicator: world}
		b, err := bcast.New(c, &bcast.Settings{Budget: time.Nanosecond}) // native stays
		if err != nil {
			return err
		}
		expect := func(name string, run func() error) error {
			c.come = 0
			if err := run(); err != nil || c.come != size {
				return fmt.Errorf("%s: %d bytes, %w", name, c.come, err)
			}
			return nil
		}
		start := func(root int) func() error {
			return func() error {
				p, err := b.Ibcast(buf, root)
				if err != nil {
					return err
				}
				return p.Wait()
			}
		}
		for _, x := range []struct {
			name string
			run  func() error
		}{
			{"native, the first time", func() error { return b.Bcast(buf, 1) }},
			{"native", func() error { return b.Bcast(buf, 1) }},
			{"native, under way", start(1)},
		} {
			if err := expect(x.name, x.run); err != nil {
				return err
			}
		}
		for _, a := range append(schedule.Algorithms(), classic.Algorithms()...) {
			for _, segment := range []int{0, 1 << 20, 1 << 30, 3 << 30} {
				for root := range 2 {
					b.Decide(predict.Plan{Algorithm: a, Segment: segment}, size, root)
					name := fmt.Sprintf("%s from %d, segment %d", a.Name(), root, segment)
					if err := expect(name, func() error { return b.Bcast(buf, root) }); err != nil {
						return err
					}
					if err := expect(name+", under way", start(root)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
