package gridjob

import (
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// A Watch tells where the time of a rank goes.
type Watch struct {
	now   func() float64
	sleep func(seconds float64) // of simulated ranks, on which computation takes no time by itself
	rate  float64               // flop/s of these
	last  float64               // s
}

// NewWatch returns the watch of a rank of comm.
func NewWatch(comm mpi.Communicator, rate float64) *Watch {
	w := &Watch{now: share.Clock(comm), rate: rate}
	if simulated, ok := comm.(interface{ Sleep(seconds float64) }); ok {
		w.sleep = simulated.Sleep
	}
	return w
}

// Start begins a lap, and returns the time in s.
func (w *Watch) Start() float64 {
	w.last = w.now()
	return w.last
}

// Lap adds the time since the last lap to a part of the whole, and returns the time in s.
func (w *Watch) Lap(to *float64) float64 {
	now := w.now()
	*to += now - w.last
	w.last = now
	return now
}

// Computed lets a simulated rank have computed.
func (w *Watch) Computed(flops float64) {
	if w.sleep != nil {
		w.sleep(flops / w.rate)
	}
}
