package bcast_test

import (
	"errors"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// failing is a communicator of which one transfer fails. It has no other abilities.
type failing struct {
	mpi.Communicator
	calls  int
	failAt int // the number of the call that fails, from 1; 0: none
}

var errTransfer = errors.New("injected")

func (f *failing) next() error {
	if f.calls++; f.calls == f.failAt {
		return errTransfer
	}
	return nil
}

func (f *failing) Send(buf []byte, dst, tag int) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Communicator.Send(buf, dst, tag)
}

func (f *failing) Recv(buf []byte, src, tag int) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Communicator.Recv(buf, src, tag)
}

// Whichever transfer of a rank fails, in New or in a first broadcast, the rank gets that error, and no rank waits for good.
func TestEveryFailedTransferIsTold(t *testing.T) {
	const ranks = 3
	for rank := range ranks {
		for failAt, reached := 1, true; reached; failAt++ {
			var got error
			_ = local.Run(ranks, nil, func(world mpi.Communicator) error { // the error of the first rank to fail
				c := &failing{Communicator: world}
				if world.Rank() == rank {
					c.failAt = failAt
				}
				b, err := bcast.New(c, nil)
				if err == nil {
					err = b.Bcast(make([]byte, 1000), 2)
				}
				if world.Rank() == rank {
					reached, got = c.calls >= failAt, err
				}
				return err
			})
			if reached && !errors.Is(got, errTransfer) {
				t.Errorf("rank %d, call %d fails: error %v", rank, failAt, got)
			}
			if !reached && (got != nil || failAt < 5) {
				t.Errorf("rank %d: %d calls, then %v", rank, failAt-1, got)
			}
		}
	}
}
