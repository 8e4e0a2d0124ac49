package servet

import (
	"fmt"
	"os"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Tags of our messages.
const (
	tagHello   = harness.FirstTag + iota // wakes up the connection, untimed
	tagMessage                           // what is timed
)

// An exchanger is one rank's side of all steps.
type exchanger struct {
	*harness.Conductor
	parts []part       // this rank's, of each step
	set   mpi.Requests // nil: one message at a time
	out   []byte
	in    []byte
}

func newExchanger(c *harness.Conductor, p *plan) *exchanger {
	x := &exchanger{Conductor: c, parts: p.parts(c.Comm.Rank())}
	if nb, ok := c.Comm.(mpi.NonBlocking); ok {
		x.set = nb.NewRequests()
	}
	if slices.ContainsFunc(x.parts, func(p part) bool { return p.to >= 0 }) {
		x.in = make([]byte, p.Bytes)
		if p.Untouched {
			x.out = x.in // nothing is copied from one to the other
			return x
		}
		x.out = make([]byte, p.Bytes)
		for i := 0; i < p.Bytes; i += os.Getpagesize() {
			x.out[i], x.in[i] = 1, 1 // pages that nobody has written to are all the same one
		}
	}
	return x
}

// step is this rank's part of a step: behind a barrier it exchanges messages, and keeps the time in s.
func (x *exchanger) step(k int, seconds *float64) (going bool, err error) {
	own := x.parts[k]
	if own.to >= 0 {
		if err := x.hello(own); err != nil {
			return false, err
		}
	}
	if going, err = x.Meet(); err != nil || !going || own.to < 0 {
		return going, err
	}
	*seconds, err = x.exchange(own)
	return true, err
}

// hello sends and receives nothing, so that what is done once per connection is done.
func (x *exchanger) hello(p part) error {
	_, err := x.both(p, x.out[:0], x.in[:0], tagHello)
	return err
}

// exchange sends and receives a message, and tells the time in s until the latter had come.
func (x *exchanger) exchange(p part) (float64, error) {
	start := x.Now()
	end, err := x.both(p, x.out, x.in, tagMessage)
	return end - start, err
}

// both sends to one rank and receives from another, and returns the time when the message was there.
func (x *exchanger) both(p part, out, in []byte, tag int) (float64, error) {
	x.Watch.Wait(p.from, harness.Sharing, 1)
	defer x.Watch.Done()
	if x.set == nil {
		return x.inTurn(p, out, in, tag)
	}
	if err := x.set.Irecv(in, p.from, tag); err != nil {
		return 0, fmt.Errorf("receive from rank %d: %w", p.from, err)
	}
	if err := x.set.Isend(out, p.to, tag); err != nil {
		return 0, fmt.Errorf("send to rank %d: %w", p.to, err)
	}
	for i := 1; i != 0; { // request 0 is the message that comes
		var err error
		if i, err = x.set.WaitAny(); err != nil {
			return 0, fmt.Errorf("exchange with ranks %d and %d: %w", p.from, p.to, err)
		}
	}
	end := x.Now()
	if err := x.set.WaitAll(); err != nil {
		return 0, fmt.Errorf("exchange with ranks %d and %d: %w", p.from, p.to, err)
	}
	return end, nil
}

// inTurn is both with blocking calls: every other run of apart hosts of the ring sends first. As the distance
// is at most half the ring, each cycle has hosts that send first and such that receive first, so that none
// waits for itself.
func (x *exchanger) inTurn(p part, out, in []byte, tag int) (float64, error) {
	var end float64
	for _, send := range [2]bool{p.place/p.apart%2 == 0, p.place/p.apart%2 != 0} {
		if send {
			if err := x.Comm.Send(out, p.to, tag); err != nil {
				return 0, fmt.Errorf("send to rank %d: %w", p.to, err)
			}
			continue
		}
		if err := x.Comm.Recv(in, p.from, tag); err != nil {
			return 0, fmt.Errorf("receive from rank %d: %w", p.from, err)
		}
		end = x.Now()
	}
	return end, nil
}
