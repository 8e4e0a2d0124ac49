package reduce

import (
	"fmt"
	"time"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// Settings of a Reducer. Those of rank 0 apply; other ranks may pass nil.
type Settings struct {
	// Network of the hosts on which the ranks run, such as topocast discover writes it. nil: nothing is known of the
	// ranks, which are then taken to be alike.
	Network *model.Network

	// ModelOnly takes the plan that is predicted to be the fastest, and never the incumbent. Nothing is timed.
	ModelOnly bool

	// Apart compares for callers of MPI's functions, whose results have a vector of their own. The incumbent then need not copy
	// its result back, and ours begin with a copy of the values.
	Apart bool

	// Budget bounds the time of one call of Tune, and of what the first reduction of a class takes besides. What is not
	// decided by then stays with the incumbent. 0: no bound.
	Budget time.Duration

	// Tag of messages, which the application must not use for its own on this communicator, in [1, mpi.MaxTag]. 0: mpi.MaxTag-2.
	Tag int

	// Reproducible makes sums, minima and maxima of float32 and float64 independent of the order of ranks, bit by bit, and refuses
	// their products. The package's section on reproducible sums says what that costs. Functions of the caller are not covered.
	Reproducible bool
}

const usualTag = mpi.MaxTag - 2

// A Reducer reduces over a communicator along its network. Like the communicator it belongs to one goroutine.
type Reducer struct {
	comm         mpi.Communicator
	incumbent    *collective.Comm
	exec         *executor // nil: the communicator has no mpi.NonBlocking, and the incumbent stays
	base         *decisions.Base
	toRoot       *decisions.Decisions // for results that one root wants
	toAll        *decisions.Decisions // for those that all ranks want
	programs     map[use]*program
	calls        decisions.Calls
	agreed       map[call]bool // kinds of calls about which the ranks have agreed
	last         call          // the kind of the last one, which loops repeat
	apart        bool
	reproducible bool
	copies       memory    // of vectors that are timed
	sums         sumMemory // of reproducible sums
	failure      error     // the first one of the communicator
}

// New is collective: it returns a reducer over the communicator, which goes on to be usable for anything else. Rank 0
// takes the part of the network that is of the ranks (model.Network.OfJob). An error of rank 0 is returned on all
// ranks.
func New(comm mpi.Communicator, s *Settings) (*Reducer, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("reduce: new: %w", err)
	}
	if s == nil {
		s = &Settings{}
	}
	r := &Reducer{comm: comm, incumbent: collective.New(comm), base: decisions.New("reduce", comm, places, usualTag), programs: make(map[use]*program), agreed: make(map[call]bool)}
	told := struct {
		*decisions.Setup
		Apart, Reproducible bool
	}{&r.base.Setup, s.Apart, s.Reproducible}
	x := decisions.Settings{Network: s.Network, ModelOnly: s.ModelOnly, Budget: s.Budget, Tag: s.Tag}
	if err := r.base.SetUp(&told, func() error { return r.base.Prepare(x, table.Allreduce, table.Reduce) }); err != nil {
		return nil, err
	}
	r.apart, r.reproducible = told.Apart, told.Reproducible
	r.exec = newExecutor(comm, r.base.Tag)
	r.base.Barrier = func(watch *tuner.Stopwatch) func() error {
		return newMeeting(watch, r.base.Control, func() error { return collective.Barrier(r.incumbent) }).begin
	}
	timed := !r.base.ModelOnly
	r.toRoot = r.base.Decisions(table.Reduce, schedule.Reductions(), timed)
	r.toAll = r.base.Decisions(table.Allreduce, schedule.Allreductions(), timed)
	return r, nil
}

// Warnings says why it is doubtful that the network is that of the ranks; the same on all of them.
func (r *Reducer) Warnings() []string { return r.base.Warnings }

// Table returns, on rank 0, the network's table with what this job has tuned in it, as of the given date (zero: not
// known, as in a simulation); nil on the other ranks. It is to be kept in the network's file (table.Table.Keep), so that the next
// job starts tuned. What time was too short for is not in it.
func (r *Reducer) Table(date time.Time) (*table.Table, error) {
	return r.base.Table(date, r.toAll, r.toRoot)
}

// checkRoot refuses a root that is no rank.
func (r *Reducer) checkRoot(root int) error {
	if uint(root) >= uint(r.comm.Size()) {
		return fmt.Errorf("reduce: rank %d: root %d: %w: want in [0, %d)", r.comm.Rank(), root, mpi.ErrRank, r.comm.Size())
	}
	return nil
}

// usable returns an error once the communicator has failed.
func (r *Reducer) usable() error {
	if r.failure == nil {
		return nil
	}
	return fmt.Errorf("reduce: rank %d: the communicator is unusable since: %w", r.comm.Rank(), r.failure)
}

// failed keeps the first error of the communicator.
func (r *Reducer) failed(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("reduce: rank %d: %w", r.comm.Rank(), err)
	if r.failure == nil {
		r.failure = err
	}
	return err
}
