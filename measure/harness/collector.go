package harness

import "runtime/debug"

// PauseCollector switches the garbage collector off and returns what switches it on again. Ranks may share a process: all call
// it before their first message, and what it returned after their last; the one that found the collector on switches it on.
func PauseCollector() (resume func()) {
	percent := debug.SetGCPercent(-1)
	return func() {
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}
}
