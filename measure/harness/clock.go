package harness

import (
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// Clock is the clock of a communicator in s, by which all that is measured,
// bounded and decided goes: virtual time in a simulation, so that one repeats.
func Clock(comm mpi.Communicator) func() float64 { return share.Clock(comm) }
