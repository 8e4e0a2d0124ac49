package servet

import (
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
	parts []part // this rank's, of each step
	set   mpi.Requests
	out   []byte
	in    []byte
}

func newExchanger(c *harness.Conductor, p *plan) *exchanger {
	x := &exchanger{Conductor: c, parts: p.parts(c.Comm.Rank()), set: mpi.NewRequests(c.Comm)}
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
	if own.to >= 0 { // what is done once per connection is done by messages of 0 bytes
		if _, err := x.exchange(own, x.out[:0], x.in[:0], tagHello); err != nil {
			return false, err
		}
	}
	if going, err = x.Meet(); err != nil || !going || own.to < 0 {
		return going, err
	}
	*seconds, err = x.exchange(own, x.out, x.in, tagMessage)
	return true, err
}

// exchange sends to one rank and receives from another, and returns the time in s until the message was there.
func (x *exchanger) exchange(p part, out, in []byte, tag int) (seconds float64, err error) {
	start := x.Now()
	err = x.Among(p.from, func() error {
		if err := x.set.Irecv(in, p.from, tag); err != nil {
			return err
		}
		if err := x.set.Isend(out, p.to, tag); err != nil {
			return err
		}
		for i := 1; i != 0; { // request 0 is the message that comes
			var err error
			if i, err = x.set.WaitAny(); err != nil {
				return err
			}
		}
		seconds = x.Now() - start
		return x.set.WaitAll()
	})
	return seconds, err
}
