package harness

import "runtime/debug"

// pauseCollector switches the garbage collector off and returns what switches it on again. Ranks may share a process: all call
// it before their first message, and what it returned after their last; the one that found the collector on switches it on.
// Where time is virtual, the collector disturbs nothing, and stays on.
func (c *Conductor) pauseCollector() (resume func()) {
	if c.IsVirtual {
		return func() {}
	}
	percent := debug.SetGCPercent(-1)
	return func() {
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}
}
