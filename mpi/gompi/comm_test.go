//go:build gompi && cgo

package gompi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	gompi "github.com/sbromberger/gompi"

	"github.com/topocast/topocast/mpi"
	topogompi "github.com/topocast/topocast/mpi/gompi"
	"github.com/topocast/topocast/mpi/mpitest"
)

// Every rank of a job runs the tests. A failure ends the job, because other ranks may wait for this one.
func TestMain(m *testing.M) {
	runtime.LockOSThread()
	gompi.Start(true)
	comm := gompi.NewCommunicator(nil)
	if want := os.Getenv(mpitest.SizeVar); want != "" && want != strconv.Itoa(comm.Size()) {
		fmt.Fprintf(os.Stderr, "the job has %d ranks, but %s=%s\n", comm.Size(), mpitest.SizeVar, want)
		comm.Abort(1)
	}
	if code := m.Run(); code != 0 {
		comm.Abort(code)
	}
	gompi.Stop()
	os.Exit(0)
}

func TestContract(t *testing.T) {
	mpitest.Run(t, topogompi.New(gompi.NewCommunicator(nil)))
}

// A communicator of gompi over half of the ranks, in reverse order.
func TestContractOfSomeRanks(t *testing.T) {
	world := gompi.NewCommunicator(nil)
	var half []int
	for rank := world.Size() - 1; rank >= 0; rank-- {
		if rank%2 == world.Rank()%2 {
			half = append(half, rank)
		}
	}
	mpitest.Run(t, topogompi.New(gompi.NewCommunicator(half)))
}

// Every wrong length is told and leaves the next message in its place. Messages of 0 and 1 byte have forms of their own.
func TestWrongLengths(t *testing.T) {
	c := topogompi.New(gompi.NewCommunicator(nil))
	if c.Size() < 2 || c.Rank() > 1 {
		t.Skip("the test needs two ranks")
	}
	lengths := []int{0, 1, 2, 3, 5000}
	for _, sent := range lengths {
		for _, expected := range lengths {
			if c.Rank() == 0 {
				if err := errors.Join(c.Send(make([]byte, sent), 1, 3), c.Send([]byte{7}, 1, 3)); err != nil {
					t.Fatal(err)
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
				t.Errorf("Recv of %d bytes into %d = %v, want %v", sent, expected, err, want)
			}
			next := make([]byte, 1)
			if err := c.Recv(next, 0, 3); err != nil || next[0] != 7 {
				t.Errorf("message after %d bytes into %d = %v, %v", sent, expected, next, err)
			}
		}
	}
}

// Broadcasts of every length and address keep to their buffers, other than BcastBytes of gompi. Ranks may have buffers at
// different addresses.
func TestBcastKeepsToTheBuffer(t *testing.T) {
	c := topogompi.New(gompi.NewCommunicator(nil))
	for _, n := range []int{0, 1, 3, 4, 5, 4096, 100_003} {
		for shift := range 4 {
			room := bytes.Repeat([]byte{0xee}, n+64)
			buf := room[8+(shift+c.Rank())%4:][:n]
			root := n % c.Size()
			if c.Rank() == root {
				copy(buf, bytes.Repeat([]byte{byte(n + 1)}, n))
			}
			if err := c.Bcast(buf, root); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(buf, bytes.Repeat([]byte{byte(n + 1)}, n)) || bytes.Count(room, []byte{0xee}) < 64 {
				t.Errorf("%d bytes at shift %d: wrong bytes in the buffer or beside it", n, shift)
			}
		}
	}
}
