//go:build linux

package mpi_test

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

// world returns a communicator of all ranks that is closed after the test.
func world(t *testing.T) *mpi.Comm {
	t.Helper()
	c, err := mpi.World()
	if errors.Is(err, mpi.ErrNoLauncher) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestContract(t *testing.T) {
	mpitest.Run(t, world(t))
}

// A limit that nothing reaches changes nothing.
func TestContractWithLimit(t *testing.T) {
	c := world(t)
	if c.Size() > 4 {
		t.Skip("it waits for itself, however many ranks there are")
	}
	defer c.LimitCalls(time.Hour)()
	mpitest.Run(t, c)
}

// Transfers between the ranks 0 and 1 do not allocate once the buffers are
// there: neither blocking ones, nor a set with more buffers than one Pinner
// holds, nor a broadcast.
func TestNoAllocations(t *testing.T) {
	c := world(t)
	if c.Size() < 2 {
		t.Skip("one rank has nobody to send to")
	}
	if c.Rank() > 1 {
		return
	}
	peer, first := 1-c.Rank(), c.Rank() == 0
	const n, size = 16, 256
	var out, in [n][]byte
	for i := range n {
		out[i], in[i] = make([]byte, size), make([]byte, size)
	}
	requests := c.NewRequests()
	samples := make([]float64, 4)
	whole := make([]byte, 2*size)
	steps := []mpi.Step{
		{Kind: mpi.StepStartSend, Peer: peer, Length: size},
		{Kind: mpi.StepRecv, Peer: peer, Offset: size, Length: size},
		{Kind: mpi.StepStartRecv, Peer: peer, Offset: size, Length: size},
		{Kind: mpi.StepSend, Peer: peer, Length: size},
		{Kind: mpi.StepWait},
	}
	tests := []struct {
		name string
		run  func() error
	}{
		{"Send and Recv", func() error {
			if first {
				if err := c.Send(out[0], peer, 1); err != nil {
					return err
				}
				return c.Recv(in[0], peer, 1)
			}
			if err := c.Recv(in[0], peer, 1); err != nil {
				return err
			}
			return c.Send(out[0], peer, 1)
		}},
		{"Ssend and Recv", func() error {
			if first {
				return c.Ssend(out[0], peer, 1)
			}
			return c.Recv(in[0], peer, 1)
		}},
		{"Isend, Irecv and WaitAll", func() error {
			for i := range n {
				if err := requests.Irecv(in[i], peer, i); err != nil {
					return err
				}
				if err := requests.Isend(out[i], peer, i); err != nil {
					return err
				}
			}
			return requests.WaitAll()
		}},
		{"Isend, Irecv and Test", func() error {
			if err := cmp.Or(requests.Irecv(in[0], peer, 1), requests.Isend(out[0], peer, 1)); err != nil {
				return err
			}
			for done := false; !done; {
				var err error
				if done, err = requests.Test(); err != nil {
					return err
				}
			}
			return nil
		}},
		{"Perform", func() error {
			_, err := c.Perform(whole, steps, 1)
			return err
		}},
		{"PingPong", func() error {
			return c.PingPong(samples, peer, 1, size, 2, first)
		}},
	}
	for _, tt := range tests {
		var failed error
		allocs := testing.AllocsPerRun(100, func() {
			if err := tt.run(); err != nil && failed == nil {
				failed = err
			}
		})
		if failed != nil {
			t.Fatalf("%s: %v", tt.name, failed)
		}
		if allocs != 0 {
			t.Errorf("%s: %g allocations per run, want 0", tt.name, allocs)
		}
	}
}

// A frame holds its bytes in an array, beside a pointer to Go memory.
type frame struct {
	next *frame
	data [256]byte
}

// Buffers may be part of an object that holds Go pointers: C does not see
// those. Neither call panics or allocates, nor does a pinned request.
func TestBuffersWithinStructs(t *testing.T) {
	c := world(t)
	out, in := &frame{next: new(frame)}, &frame{next: new(frame)}
	for i := range out.data {
		out.data[i] = byte(i ^ 0x55)
	}
	if err := c.Bcast(out.data[:], 0); err != nil {
		t.Fatal(err)
	}
	if c.Size() < 2 || c.Rank() > 1 {
		return
	}
	peer := 1 - c.Rank()
	requests := c.NewRequests()
	var failed error
	blocking := func(send func(buf []byte, dst, tag int) error) {
		err := error(nil)
		if c.Rank() == 0 {
			err = send(out.data[:], peer, 1)
		} else {
			err = c.Recv(in.data[:], peer, 1)
		}
		failed = cmp.Or(failed, err)
	}
	allocs := testing.AllocsPerRun(20, func() {
		blocking(c.Send)
		blocking(c.Ssend)
		failed = cmp.Or(failed, requests.Irecv(in.data[:128], peer, 2), requests.Irecv(in.data[128:], peer, 3),
			requests.Isend(out.data[:128], peer, 2), requests.Isend(out.data[128:], peer, 3), requests.WaitAll())
	})
	if failed != nil {
		t.Fatal(failed)
	}
	if allocs != 0 {
		t.Errorf("%g allocations per run, want 0", allocs)
	}
	if in.data != out.data {
		t.Errorf("received %x, want %x", in.data, out.data)
	}
}

// A second World works on messages of its own.
func TestWorldsAreIsolated(t *testing.T) {
	a, b := world(t), world(t)
	if a.Size() < 2 || a.Rank() > 1 {
		return
	}
	peer := 1 - a.Rank()
	if a.Rank() == 0 {
		requests := a.NewRequests()
		if err := requests.Isend([]byte("a"), peer, 5); err != nil {
			t.Fatal(err)
		}
		if err := b.Send([]byte("b"), peer, 5); err != nil {
			t.Fatal(err)
		}
		if err := requests.WaitAll(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, want := range []struct {
		c    *mpi.Comm
		text string
	}{{b, "b"}, {a, "a"}} {
		buf := make([]byte, 1)
		if err := want.c.Recv(buf, peer, 5); err != nil {
			t.Fatal(err)
		}
		if string(buf) != want.text {
			t.Errorf("received %q, want %q", buf, want.text)
		}
	}
}
