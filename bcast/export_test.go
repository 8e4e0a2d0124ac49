package bcast

import (
	"time"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
)

// Decide makes a plan the decision for messages of the class of the given bytes from a root. Tests need plans that no
// contest chooses.
func (b *Broadcaster) Decide(p predict.Plan, bytes, root int) {
	b.decisions.Set(bytes, root, &decisions.Decision{Plan: p, Decided: true})
	b.use(p, bytes, root)
}

// SetBudget changes Settings.Budget, to show that what was not decided is tried again.
func (b *Broadcaster) SetBudget(seconds float64) {
	b.decisions.Budget = time.Duration(min(seconds*1e9, 1<<62))
}

// PerformOps performs the steps of a rank without a broadcaster, whose messages would not arrive where a simulation moves
// no bytes.
func PerformOps(comm mpi.Communicator, tag int, ops []schedule.Op, buf []byte, blocking bool) error {
	e := newExecutor(comm, tag)
	e.current.ops = ops
	e.lower(&e.current, e.mode(len(buf), len(ops), blocking))
	return e.run(buf)
}
