package check

import (
	"context"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// MeasureUnderLoad checks the hosts of a job while all send and receive at once: it finds what passes alone and fails
// together. The settings need a graph. It is collective, as Measure is, and
// what is said there of settings, ranks and endings holds here. In a round each rank
// sends and receives three messages of Settings.Bytes and three short ones, each after a barrier. A receiver takes the time
// from the barrier to its message, and what counts is the median of long ones less that of short ones.
//
// Where the communicator is not mpi.NonBlocking, a rank does either in a round: it sends, or it receives. Then links
// between switches are filled by half as many hosts, and switches never are. A warning says so.
func MeasureUnderLoad(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	_, both := comm.(mpi.NonBlocking)
	return converse(ctx, comm, settings.underLoad(), func(hosts int, s *Settings, ask *asker) (*Result, error) {
		return findUnderLoad(ctx, hosts, ask.oracle(atOnce), s, both)
	})
}

// loaded sends to a rank and receives from one while all others do; -1: it does not. It returns how many seconds longer it
// took to receive a long message than a short one, by their medians. They alternate: a rank that leaves a barrier late is late
// for both.
func (p *prober) loaded(to, from, size int) ([]float64, error) {
	if p.requests == nil {
		p.requests = mpi.NewRequests(p.Comm)
		p.long, p.sent = make([]byte, size), make([]byte, size)
	}
	var short, long []float64 // s
	for range longSamples {
		for _, x := range []struct {
			size  int
			times *[]float64
		}{{min(size, shortBytes), &short}, {size, &long}} {
			if going, err := p.Meet(); err != nil || !going {
				return nil, err
			}
			seconds, err := p.exchange(to, from, x.size)
			if err != nil {
				return nil, err
			}
			*x.times = append(*x.times, seconds)
		}
	}
	if from < 0 {
		return nil, nil
	}
	slices.Sort(short)
	slices.Sort(long)
	return []float64{long[longSamples/2] - short[longSamples/2]}, nil
}

// exchange sends and receives one message each, and returns how long it took to receive in s.
func (p *prober) exchange(to, from, size int) (float64, error) {
	begun, seconds := p.Now(), 0.0
	if from >= 0 {
		if err := p.requests.Irecv(p.long[:size], from, tagLong); err != nil {
			return 0, err
		}
	}
	if to >= 0 {
		if err := p.requests.Isend(p.sent[:size], to, tagLong); err != nil {
			return 0, err
		}
	}
	if from >= 0 {
		if err := p.received(from); err != nil {
			return 0, err
		}
		seconds = p.Now() - begun
	}
	if to < 0 {
		return seconds, p.requests.WaitAll()
	}
	return seconds, p.With(to, p.requests.WaitAll)
}

// received waits for the message of another rank, which is the first of the requests.
func (p *prober) received(from int) error {
	return p.With(from, func() error {
		for {
			if ended, err := p.requests.WaitAny(); err != nil || ended == 0 {
				return err
			}
		}
	})
}
