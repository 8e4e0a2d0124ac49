package harness

import (
	"runtime/debug"

	"github.com/topocast/topocast/mpi"
)

// pauseCollector switches the garbage collector off and returns what switches it on again. Ranks may share a process: all call
// it before their first message, and what it returned after their last; the one that found the collector on switches it on.
// Where time is virtual, the collector disturbs nothing, and stays on.
func pauseCollector(comm mpi.Communicator) (resume func()) {
	if IsVirtual(comm) {
		return func() {}
	}
	percent := debug.SetGCPercent(-1)
	return func() {
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}
}
