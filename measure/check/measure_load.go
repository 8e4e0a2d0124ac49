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

// loaded sends to a rank and receives from one while all others do; -1: it does not.
func (p *prober) loaded(to, from, size int) (answer, error) {
	if p.requests == nil {
		p.requests = p.comm.(mpi.NonBlocking).NewRequests()
		p.long, p.sent = make([]byte, size), make([]byte, size)
	}
	own := answer{latency: math.NaN(), long: math.NaN()}
	var times [longSamples]float64
	for i := range times {
		if from >= 0 {
			if err := p.requests.Irecv(p.long, from, tagLong); err != nil {
				return own, err
			}
		}
		if _, err := p.barrier.Wait(0); err != nil {
			return own, err
		}
		begun := p.now()
		if to >= 0 {
			if err := p.requests.Isend(p.sent, to, tagLong); err != nil {
				return own, err
			}
		}
		if from >= 0 {
			p.watch.Wait(from, harness.Measuring, 1)
			for {
				ended, err := p.requests.WaitAny()
				if err != nil {
					return own, err
				}
				if ended == 0 { // the receipt is the first of the set
					break
				}
			}
			p.watch.Done()
			times[i] = p.now() - begun
		}
		if to >= 0 {
			p.watch.Wait(to, harness.Measuring, 1)
		}
		err := p.requests.WaitAll()
		p.watch.Done()
		if err != nil {
			return own, err
		}
	}
	if from >= 0 {
		slices.Sort(times[:])
		own.long = times[longSamples/2]
	}
	return own, nil
}
