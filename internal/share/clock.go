package share

import (
	"time"

	"github.com/topocast/topocast/mpi"
)

// Clock is the clock of a communicator in s: virtual time in a simulation. Without one it is the wall clock.
func Clock(comm mpi.Communicator) func() float64 {
	if c, ok := comm.(mpi.Clock); ok {
		return c.Now
	}
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}
