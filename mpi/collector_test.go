//go:build linux

package mpi_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
)

// roundsVar is how many rounds TestCollectorRuns goes on for, of 10 calls of MPI each.
const roundsVar = "TOPOCAST_TEST_ROUNDS"

// Buffers stay where they are while MPI has them, though the collector runs all the time, goroutines
// are preempted, and buffers are born on stacks that grow. What MPI no longer has is garbage.
func TestCollectorRuns(t *testing.T) {
	c := world(t)
	if c.Size() < 2 || c.Rank() > 1 {
		return
	}
	// Two ranks wait in MPI, and more of them on few cores yield: four show that, and any more would only
	// wait for these two.
	if c.Size() > 4 {
		t.Skip("these ranks wait as four do")
	}
	rounds := 500
	if c.Size() > 2 {
		rounds = 100
	}
	if text := os.Getenv(roundsVar); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	done, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				litterOf = bytes.Repeat([]byte{0xff}, 3000)
				runtime.GC()
			}
		}
	}()
	set := c.NewRequests()
	var before, after runtime.MemStats
	var resident int
	for i := range rounds {
		if i == rounds/10 {
			runtime.ReadMemStats(&before)
			resident = residentKiB(t)
		}
		if err := exchangeOnStack(c, set, byte(i), i%7); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
	close(done)
	<-ended
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("resident memory has grown by %d KiB from %d KiB", residentKiB(t)-resident, resident)
	if grown := int64(after.HeapObjects) - int64(before.HeapObjects); grown > 2000 {
		t.Errorf("%d objects more than after a tenth of the rounds", grown)
	}
}

// residentKiB is the memory of the process.
func residentKiB(t *testing.T) (kib int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(text, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}

// litterOf is where the test throws memory away, of the sizes of its buffers.
var litterOf []byte

// exchangeOnStack passes short and long messages between the ranks 0 and 1, so many frames further up
// the stack.
func exchangeOnStack(c *mpi.Comm, set mpi.Requests, mark byte, frames int) error {
	if frames > 0 {
		var room [4096]byte
		room[int(mark)*8] = mark
		err := exchangeOnStack(c, set, mark, frames-1)
		if room[int(mark)*8] != mark {
			return fmt.Errorf("the stack was written to")
		}
		return err
	}
	peer := 1 - c.Rank()
	var short, got [8]byte
	var long, gotLong [3000]byte
	for i := range short {
		short[i] = mark + byte(c.Rank())
	}
	for i := range long {
		long[i] = mark ^ byte(c.Rank())
	}
	var err error
	if c.Rank() == 0 {
		err = cmp.Or(c.Send(short[:], peer, 1), c.Recv(got[:], peer, 1))
	} else {
		err = cmp.Or(c.Recv(got[:], peer, 1), c.Send(short[:], peer, 1))
	}
	err = cmp.Or(err, set.Irecv(gotLong[:], peer, 2), set.Isend(long[:], peer, 2), set.WaitAll())
	if err != nil {
		return err
	}
	for i, b := range got {
		if want := mark + byte(peer); b != want {
			return fmt.Errorf("byte %d of the short message = %d, want %d", i, b, want)
		}
	}
	for i, b := range gotLong {
		if want := mark ^ byte(peer); b != want {
			return fmt.Errorf("byte %d of the long message = %d, want %d", i, b, want)
		}
	}
	steps := []mpi.Step{
		{Kind: mpi.StepStartSend, Peer: peer, Length: 8},
		{Kind: mpi.StepRecv, Peer: peer, Offset: 8, Length: 8},
		{Kind: mpi.StepWait},
	}
	var both [16]byte
	copy(both[:], short[:])
	if _, err := c.Perform(both[:], steps, 3); err != nil {
		return err
	}
	if !bytes.Equal(both[8:], got[:]) {
		return fmt.Errorf("the steps brought %d, want %d", both[8:], got)
	}
	return nil
}
