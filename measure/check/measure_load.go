package check

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// MeasureUnderLoad is FindUnderLoad over messages between the ranks of a job, which have to be mpi.NonBlocking. It is
// collective, as Measure is, and what is said there of settings, ranks and endings holds here. In a round each rank
// sends and receives three messages of Settings.Bytes, one after the other; a receiver takes the time from the barrier
// to its message, of which the median counts.
func MeasureUnderLoad(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	if _, able := comm.(mpi.NonBlocking); !able {
		return nil, fmt.Errorf("check: a check under load sends and receives at once: want a communicator that is mpi.NonBlocking, not %T", comm)
	}
	loaded := Settings{Bytes: loadBytes}
	if settings != nil {
		loaded = *settings
		if loaded.Bytes == 0 {
			loaded.Bytes = loadBytes
		}
	}
	var found *Result
	err := converse(ctx, comm, &loaded, func(hosts int, s *Settings, ask *asker) error {
		var err error
		found, err = FindUnderLoad(ctx, hosts, ask.transfer, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// loaded sends to a rank and receives from one while all others do; -1: it does not. It returns how long it took to
// receive in s, NaN if nothing was.
func (p *prober) loaded(to, from, size int) (float64, error) {
	if p.requests == nil {
		p.requests = p.Comm.(mpi.NonBlocking).NewRequests()
		p.long, p.sent = make([]byte, size), make([]byte, size)
	}
	var times []float64
	for range longSamples {
		if going, err := p.Meet(); err != nil || !going {
			return math.NaN(), err
		}
		begun := p.Now()
		if from >= 0 {
			if err := p.requests.Irecv(p.long, from, tagLong); err != nil {
				return math.NaN(), err
			}
		}
		if to >= 0 {
			if err := p.requests.Isend(p.sent, to, tagLong); err != nil {
				return math.NaN(), err
			}
		}
		if from >= 0 {
			if err := p.received(from); err != nil {
				return math.NaN(), err
			}
			times = append(times, p.Now()-begun)
		}
		if to >= 0 {
			p.Watch.Wait(to, harness.Measuring, 1)
		}
		err := p.requests.WaitAll()
		p.Watch.Done()
		if err != nil {
			return math.NaN(), err
		}
	}
	if from < 0 {
		return math.NaN(), nil
	}
	slices.Sort(times)
	return times[longSamples/2], nil
}

// received waits for the message of another rank, which is the first of the requests.
func (p *prober) received(from int) error {
	p.Watch.Wait(from, harness.Measuring, 1)
	defer p.Watch.Done()
	for {
		if ended, err := p.requests.WaitAny(); err != nil || ended == 0 {
			return err
		}
	}
}
