package simnet_test

import (
	"math"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A rank that stalls every second for 50 ms in the mean works in the rest of the time: 100 s of work last for the
// number of stalls that begin in it, which is 100 with a standard deviation of 10 (Poisson), and each is seen. A
// message of 10 ms takes that, or longer by stalls of either rank.
func TestStalls(t *testing.T) {
	c, err := simnet.ParseCluster("star:2 latency=1us rate=1GBps")
	if err != nil {
		t.Fatal(err)
	}
	const work, step, length = 100.0, 1e-3, 50e-3
	s := &simnet.Settings{Stalls: simnet.Stalls{Every: 1, Least: length, Most: length}, Seed: 1, ClockCost: -1, HollowAbove: 1}
	err = simnet.Run(c.Graph, nil, s, func(comm mpi.Communicator) error {
		rank := comm.(*simnet.Comm)
		stalls, before := 0.0, rank.Now()
		for range int(work / step) {
			rank.Sleep(step)
			now := rank.Now()
			if late := now - before - step; late > step {
				stalls += math.Round(late / length)
			}
			before = now
		}
		if stalls < 70 || stalls > 130 || math.Abs(before-work-stalls*length) > 2*length {
			t.Errorf("rank %d: %g stalls in %g s, want 100 within three standard deviations, and the time to be theirs and 100 s", rank.Rank(), stalls, before)
		}
		buf := make([]byte, 10_000_000)
		slow := 0
		const messages = 1000
		for range messages {
			if rank.Rank() == 0 {
				if err := comm.Send(buf, 1, 1); err != nil {
					return err
				}
				continue
			}
			began := rank.Now()
			if err := comm.Recv(buf, 0, 1); err != nil {
				return err
			}
			if rank.Now()-began > 15e-3 {
				slow++
			}
		}
		// In 10 ms one of two ranks begins a stall with 2 %, and is in one with up to 10 % when it is called.
		if rank.Rank() == 1 && (slow < 10 || slow > 60) {
			t.Errorf("%d of %d messages were held up, want about 20", slow, messages)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
