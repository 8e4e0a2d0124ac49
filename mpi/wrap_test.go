package mpi_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

// A channelComm has the methods of gompi's communicator and its manners: it
// panics on an empty slice, and a message longer than the buffer is fatal.
// (examples/gompi holds Wrap to the contract over gompi itself.)
type channelComm struct {
	rank int
	box  map[[3]int]chan []byte // by source, destination and tag
	lock *sync.Mutex
	size int
}

type channelStatus struct{ bytes int }

func (c *channelComm) Rank() int { return c.rank }
func (c *channelComm) Size() int { return c.size }
func (c *channelComm) Abort(int) { panic("aborted") }

func (c *channelComm) mail(src, dst, tag int) chan []byte {
	c.lock.Lock()
	defer c.lock.Unlock()
	key := [3]int{src, dst, tag}
	if c.box[key] == nil {
		c.box[key] = make(chan []byte, 64)
	}
	return c.box[key]
}

func (c *channelComm) SendBytes(vals []byte, toID, tag int) {
	_ = vals[0]
	c.mail(c.rank, toID, tag) <- append([]byte(nil), vals...)
}

func (c *channelComm) RecvPreallocBytes(vals []byte, fromID, tag int) channelStatus {
	_ = vals[0]
	message := <-c.mail(fromID, c.rank, tag)
	if len(message) > len(vals) {
		panic(fmt.Sprintf("message of %d bytes for a buffer of %d", len(message), len(vals)))
	}
	return channelStatus{copy(vals, message)}
}

// channelJob runs body on n ranks.
func channelJob(n int, body func(c *channelComm) error) error {
	box, lock := map[[3]int]chan []byte{}, &sync.Mutex{}
	errs := make([]error, n)
	var wait sync.WaitGroup
	for rank := range n {
		wait.Go(func() { errs[rank] = body(&channelComm{rank, box, lock, n}) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func TestWrapKeepsTheContract(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		err := channelJob(n, func(c *channelComm) error { return mpitest.Check(mpi.Wrap(c)) })
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// Every wrong length is told, and leaves the next message in its place, on
// both sides of the length from which a message travels outside its frame.
func TestWrapTellsWrongLengths(t *testing.T) {
	lengths := []int{0, 1, 2039, 2040, 2041, 5000}
	err := channelJob(2, func(g *channelComm) error {
		c := mpi.Wrap(g)
		for _, sent := range lengths {
			for _, expected := range lengths {
				if c.Rank() == 0 {
					if err := errors.Join(c.Send(make([]byte, sent), 1, 3), c.Send([]byte("next"), 1, 3)); err != nil {
						return err
					}
					continue
				}
				var want error
				switch {
				case sent > expected:
					want = mpi.ErrTruncated
				case sent < expected:
					want = mpi.ErrLength
				}
				if err := c.Recv(make([]byte, expected), 0, 3); !errors.Is(err, want) {
					return fmt.Errorf("Recv of %d bytes into %d = %v, want %v", sent, expected, err, want)
				}
				next := make([]byte, 4)
				if err := c.Recv(next, 0, 3); err != nil || string(next) != "next" {
					return fmt.Errorf("message after %d bytes into %d = %q, %v", sent, expected, next, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWrapRefusesForeignMessages(t *testing.T) {
	err := channelJob(2, func(g *channelComm) error {
		if g.Rank() == 0 {
			g.SendBytes([]byte("not a frame"), 1, 3)
			return nil
		}
		if err := mpi.Wrap(g).Recv(make([]byte, 11), 0, 3); !errors.Is(err, mpi.ErrOther) {
			return fmt.Errorf("Recv of a foreign message = %v, want %v", err, mpi.ErrOther)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
