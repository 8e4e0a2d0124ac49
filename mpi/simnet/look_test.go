package simnet_test

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A message of 1250 B takes 11 us on star:3. The receiver computes 8 us, looks in
// vain, computes 8 us more, and has it without having waited; looking all the
// time it would have had it after 11.
func TestTestLooksAtTheRanksOwnTime(t *testing.T) {
	const compute, arrives = 8e-6, 11e-6
	for _, c := range []struct {
		name     string
		computes bool
		want     float64
	}{{"between computations", true, 2 * compute}, {"all the time", false, arrives}} {
		t.Run(c.name, func(t *testing.T) {
			got := finish(t, graphOf(t, "star:3"), nil, &simnet.Settings{ClockCost: -1}, func(comm mpi.Communicator) error {
				buf := make([]byte, 1250)
				switch comm.Rank() {
				case 0:
					return comm.Send(buf, 1, 0)
				case 1:
					set := comm.(mpi.NonBlocking).NewRequests()
					if err := set.Irecv(buf, 0, 0); err != nil {
						return err
					}
					vain := 0
					for {
						if c.computes {
							comm.(*simnet.Comm).Sleep(compute)
						}
						done, err := set.Test()
						if err != nil {
							return err
						}
						if done {
							break
						}
						vain++
					}
					if c.computes && vain != 1 {
						return fmt.Errorf("looked %d times in vain, want once", vain)
					}
				}
				return nil
			})
			wantTimes(t, got, 0, c.want, 0)
		})
	}
}

// Two ranks look for messages that nobody sends.
func TestLookingForEverIsADeadlock(t *testing.T) {
	err := simnet.Run(graphOf(t, "star:2"), nil, nil, func(comm mpi.Communicator) error {
		set := comm.(mpi.NonBlocking).NewRequests()
		if err := set.Irecv(make([]byte, 8), 1-comm.Rank(), 7); err != nil {
			return err
		}
		for {
			if done, err := set.Test(); done || err != nil {
				return err
			}
		}
	})
	wantError(t, err, simnet.ErrDeadlock, "2 ranks wait", "rank 1: Test, Irecv from rank 0, tag 7")
}

// A rank that looks some times in vain, while nothing is under way, and then
// sends what the other waits for is no deadlock.
func TestLookingInVainIsNoDeadlock(t *testing.T) {
	err := simnet.Run(graphOf(t, "star:2"), nil, nil, func(comm mpi.Communicator) error {
		buf := make([]byte, 8)
		if comm.Rank() == 1 {
			if err := comm.Recv(buf, 0, 1); err != nil {
				return err
			}
			return comm.Send(buf, 0, 2)
		}
		set := comm.(mpi.NonBlocking).NewRequests()
		if err := set.Irecv(buf, 1, 2); err != nil {
			return err
		}
		for range 5 {
			if done, err := set.Test(); done || err != nil {
				return fmt.Errorf("Test = %v, %w, want false", done, err)
			}
		}
		if err := comm.Send(buf, 1, 1); err != nil {
			return err
		}
		return set.WaitAll()
	})
	if err != nil {
		t.Error(err)
	}
}
