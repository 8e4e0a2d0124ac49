package reduce

import (
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

func meetingOf(comm mpi.Communicator, barrier func() error) (*meeting, error) {
	watch, err := tuner.NewStopwatch(comm, 1, nil, false)
	if err != nil {
		return nil, err
	}
	return newMeeting(watch, share.Binomial(comm, 0, 1), barrier), nil
}

// However late ranks come, none begins before the last one is there, and in the first meeting none before the instant that rank 0
// names.
func TestRanksBeginTogether(t *testing.T) {
	const ranks, rounds = 5, 12
	var came, began [rounds][ranks]time.Time
	err := local.Run(ranks, nil, func(comm mpi.Communicator) error {
		m, err := meetingOf(comm, func() error { panic("a barrier, though time passes") })
		for round := range rounds {
			if err != nil {
				return err
			}
			time.Sleep(time.Duration((comm.Rank()+round)%ranks) * time.Millisecond)
			came[round][comm.Rank()] = time.Now()
			err = m.begin()
			began[round][comm.Rank()] = time.Now()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		least := 0.0
		if round == 0 {
			least = usualLead
		}
		last, first := slices.MaxFunc(came[round][:], time.Time.Compare), slices.MinFunc(began[round][:], time.Time.Compare)
		if first.Sub(last).Seconds() < least {
			t.Errorf("round %d: a rank begins %v after the last one is there, want at least %g s", round, first.Sub(last), least)
		}
	}
}

func TestSimulatedRanksHaveABarrier(t *testing.T) {
	c, err := gen.Parse("star:3 latency=5us")
	if err != nil {
		t.Fatal(err)
	}
	barriers := 0
	err = simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		m, err := meetingOf(comm, func() error { barriers++; return nil })
		if err != nil {
			return err
		}
		return m.begin()
	})
	if err != nil || barriers != 3 {
		t.Errorf("%d barriers, %v, want one of each rank", barriers, err)
	}
}
