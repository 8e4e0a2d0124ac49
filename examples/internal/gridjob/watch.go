package gridjob

import (
	"fmt"
	"math"
	"time"

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
	begin := time.Now()
	w := &Watch{now: func() float64 { return time.Since(begin).Seconds() }, rate: rate}
	if clock, ok := comm.(mpi.Clock); ok {
		w.now = clock.Now
	}
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

// Milliseconds is a time for a table; NaN is not known.
func Milliseconds(seconds float64) string {
	if math.IsNaN(seconds) {
		return "-"
	}
	return fmt.Sprintf("%.3f", 1e3*seconds)
}

// alike is how much two times may differ for neither to be called better.
const alike = 0.05

// AreAlike tells whether neither time is better.
func AreAlike(a, b float64) bool { return math.Abs(a-b) <= alike*max(a, b) }

// Verdict compares the times of two orders of ranks with what was predicted to be better.
func Verdict(rows, cols float64, byRows bool) string {
	switch {
	case AreAlike(rows, cols):
		return "both take as long"
	case (rows < cols) == byRows:
		return "right"
	}
	return "wrong"
}
