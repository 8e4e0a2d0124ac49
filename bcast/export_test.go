package bcast

import (
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// Decide makes a plan the decision for messages of the class of the given bytes from a root. Tests need plans that no
// contest chooses.
func (b *Broadcaster) Decide(p predict.Plan, bytes, root int) {
	b.decisions[b.key(bytes, root)] = &decision{Plan: p, decided: true}
	b.use(p, bytes, root)
}

// SetBudget changes Settings.Budget, to show that what was not decided is tried again.
func (b *Broadcaster) SetBudget(seconds float64) { b.budget = seconds }

// PerformOps performs the steps of a rank without a broadcaster, whose messages would not arrive where a simulation moves
// no bytes.
func PerformOps(comm mpi.Communicator, tag int, ops []schedule.Op, buf []byte, blocking bool) error {
	e := newExecutor(comm, tag)
	e.current.ops = ops
	e.lower(&e.current, e.mode(len(buf), len(ops), blocking))
	return e.run(buf)
}
