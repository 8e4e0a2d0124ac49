//go:build linux && !(386 || arm || mips || mipsle)

package bcast

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/mpi"
)

// counting is a communicator of two ranks that checks what comes to it: pieces that MPI can
// count, one after the other.
type counting struct {
	silent
	wrong error
	come  int // bytes
}

func (c *counting) take(buf []byte) error {
	if len(buf) < 1 || len(buf) > schedule.MaxSegment {
		c.wrong = fmt.Errorf("a piece of %d bytes", len(buf))
	}
	c.come += len(buf)
	return c.wrong
}

func (c *counting) Send(buf []byte, _, _ int) error  { return c.take(buf) }
func (c *counting) Recv(buf []byte, _, _ int) error  { return c.take(buf) }
func (c *counting) Bcast(buf []byte, root int) error { return c.take(buf) }

func (c *counting) NewRequests() mpi.Requests { return countingRequests{promptRequests{}, c} }

type countingRequests struct {
	promptRequests
	c *counting
}

func (r countingRequests) Isend(buf []byte, _, _ int) error { return r.c.take(buf) }
func (r countingRequests) Irecv(buf []byte, _, _ int) error { return r.c.take(buf) }
func (r countingRequests) Ibcast(buf []byte, _ int) error   { return r.c.take(buf) }

// 5 GiB and some bytes, which nobody can touch, by the library and by every algorithm, whole and in segments of
// lengths up to more than MPI counts: all of them go, in pieces of at most 1 GiB.
func TestMoreThanMPICounts(t *testing.T) {
	size := 5<<30 + 12345
	buf, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(buf)
	c := &counting{}
	b := tunedTo(c, size)
	if r := b.compiledFor(size, 1); r.direct != nil {
		t.Error("the library gets all at once")
	}
	if err := b.Bcast(buf, 1); err != nil || c.come != size {
		t.Errorf("native: %d bytes, %v", c.come, err)
	}
	c.come = 0
	if p, err := b.Ibcast(buf, 1); err != nil || p.Wait() != nil || c.come != size {
		t.Errorf("native, under way: %d bytes, %v", c.come, err)
	}
	for _, a := range append(schedule.Algorithms(), classic.Algorithms()...) {
		for _, segment := range []int{0, 1 << 20, 1 << 30, 3 << 30} {
			for root := range 2 {
				c.come = 0
				r := b.compile(predict.Plan{Index: 0, Algorithm: a, Segment: segment}, size, root)
				if err := b.perform(r, buf, root); err != nil || c.come != size {
					t.Errorf("%s from %d, segment %d: %d bytes, %v", a.Name(), root, segment, c.come, err)
				}
				c.come = 0
				if p, err := b.start(r, buf, root); err != nil || p.Wait() != nil || c.come != size {
					t.Errorf("%s from %d, segment %d, under way: %d bytes, %v", a.Name(), root, segment, c.come, err)
				}
			}
		}
	}
}
