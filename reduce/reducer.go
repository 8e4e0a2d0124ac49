package reduce

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/topology"
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
	comm      mpi.Communicator
	incumbent *collective.Comm
	exec      *executor // nil: the communicator has no mpi.NonBlocking, and the incumbent stays
	settings  told
	hosts     []int // of all ranks, on rank 0
	tree      *topology.Hierarchy
	classes   []int                // of the ranks as roots; nil: one
	toRoot    []schedule.Algorithm // for results that one root wants
	toAll     []schedule.Algorithm // for those that all ranks want
	decisions map[key]*decision
	watch     *tuner.Stopwatch // made when first needed
	failure   error            // the first one of the communicator
	sums      sumMemory        // of reproducible sums

	// What rank 0 knows alone.
	evaluator *predict.Evaluator
	job       table.Job // of broadcasts
	stored    *table.Table
}

// told is what rank 0 tells all ranks when a reducer is made.
type told struct {
	Tag            int
	Budget         time.Duration
	ModelOnly      bool
	Apart          bool
	Reproducible   bool
	Oversubscribed bool // some host has more ranks than cores
	HasLevels      bool
	Levels         [][][]int // the groups of the ranks
	Costs          *schedule.Costs
	Warnings       []string
	Tuned          map[string][]table.Cell // from the network's table, by collective
}

// New is collective: it returns a reducer over the communicator, which goes on to be usable for anything else. Rank 0
// takes the part of the network that is of the ranks (model.Network.ViewTypical). An error of rank 0 is returned on all
// ranks.
func New(comm mpi.Communicator, s *Settings) (*Reducer, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("reduce: new: %w", err)
	}
	hosts, _ := mpi.NumberHosts(places)
	r := &Reducer{comm: comm, incumbent: collective.New(comm), hosts: hosts, decisions: make(map[key]*decision)}
	var wrong error
	if comm.Rank() == 0 {
		wrong = r.prepare(s, places)
	}
	refused, failed := share.Binomial(comm, 0, usualTag).TellValue(&r.settings, wrong)
	if err := cmp.Or(failed, refused); err != nil {
		return nil, fmt.Errorf("reduce: new: %w", err)
	}
	if r.settings.HasLevels {
		groups := table.Topology{Name: "network", Levels: r.settings.Levels}
		if r.tree, err = groups.Tree(comm.Size()); err != nil {
			return nil, fmt.Errorf("reduce: new: %w", err)
		}
		r.classes = table.RootClasses(r.tree)
	}
	r.exec = newExecutor(comm, r.settings.Tag)
	r.toRoot = schedule.Variants(schedule.Reductions(), r.problem(AllRanks, 0))
	r.toAll = schedule.Variants(schedule.Allreductions(), r.problem(AllRanks, 0))
	r.takeTuned()
	return r, nil
}

// prepare is the part of rank 0.
func (r *Reducer) prepare(s *Settings, places []mpi.Place) error {
	if s == nil {
		s = &Settings{}
	}
	r.settings = told{
		Tag: s.Tag, Budget: s.Budget, ModelOnly: s.ModelOnly, Apart: s.Apart, Reproducible: s.Reproducible,
		Oversubscribed: len(mpi.OversubscribedHosts(places)) > 0,
	}
	switch {
	case s.Tag < 0 || s.Tag > mpi.MaxTag:
		return fmt.Errorf("settings: tag %d: want in [1, %d], or 0", s.Tag, mpi.MaxTag)
	case s.Budget < 0:
		return fmt.Errorf("settings: budget %v: want at least 0", s.Budget)
	case s.Tag == 0:
		r.settings.Tag = usualTag
	}
	at := make([]model.Location, len(places))
	for i, p := range places {
		at[i] = model.Location{Host: p.Host, Core: p.Core}
	}
	library := ""
	if v, ok := r.comm.(mpi.Versioned); ok {
		library = v.LibraryVersion()
	}
	r.job = table.JobOf(at, library, os.Environ())
	r.evaluator = predict.Uniform(len(places))
	if s.Network == nil {
		return nil
	}
	view, warnings, err := s.Network.OfJob(at)
	if err != nil {
		return err
	}
	r.evaluator = predict.New(view)
	r.settings.HasLevels, r.settings.Levels = true, table.Levels(view.Hierarchy())
	r.settings.Costs = predict.Costs(view, view.Hierarchy())
	r.settings.Warnings = warnings
	if !s.ModelOnly {
		r.findTuned(s.Network, table.RootClasses(view.Hierarchy()))
	}
	return nil
}

// problem is a reduction among the ranks.
func (r *Reducer) problem(root, bytes int) schedule.Problem {
	return schedule.Problem{Ranks: r.comm.Size(), Root: max(0, root), Bytes: bytes, Tree: r.tree, Costs: r.settings.Costs}
}

// Warnings says why it is doubtful that the network is that of the ranks; the same on all of them.
func (r *Reducer) Warnings() []string { return r.settings.Warnings }

// budget is that of the settings in s.
func (r *Reducer) budget() float64 {
	if r.settings.Budget == 0 {
		return math.Inf(1)
	}
	return r.settings.Budget.Seconds()
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
