package main

import (
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// An allowance is a budget that some parts share: each gets its share of what is left when it begins, so that the others do not
// get what one takes too long, and do get what one leaves. The zero value has no bound.
type allowance struct {
	left  func() time.Duration // until the last part is to end; nil: no bound
	parts int                  // still to come
}

// allow begins a budget now, by the clock of the ranks.
func allow(comm mpi.Communicator, budget time.Duration, parts int) *allowance {
	now := harness.Clock(comm)
	start := now()
	return &allowance{func() time.Duration { return budget - time.Duration((now()-start)*float64(time.Second)) }, parts}
}

// leastShare of a budget is for a measurement when the time is over: settings want some, in which a first round is measured.
const leastShare = time.Millisecond

// next is for the next part. 0: no bound.
func (a *allowance) next() time.Duration {
	if a.left == nil {
		return 0
	}
	share := a.left() / time.Duration(max(1, a.parts))
	a.parts--
	return max(share, leastShare)
}

// split is the next part, which parts of its own share.
func (a *allowance) split(parts int) *allowance {
	if a.left == nil {
		return &allowance{}
	}
	after := a.left() - a.next()
	return &allowance{func() time.Duration { return a.left() - after }, parts}
}

// spent tells whether nothing is left.
func (a *allowance) spent() bool { return a.left != nil && a.left() <= 0 }
