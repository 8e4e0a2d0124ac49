package bcast

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A Broadcaster broadcasts over a communicator along its network. Like the
// communicator it belongs to one goroutine.
type Broadcaster struct {
	// What a warm Bcast looks at.
	compiled [maxClass + 1][]*compiledPlan // by class of sizes and root; nil: not decided yet
	exec     *executor
	loaded   loading // what the executor has the program of

	comm           mpi.Communicator
	ranks          int
	native         mpi.NativeBcast // nil: none
	modelOnly      bool
	budget         float64 // s; +Inf: none
	oversubscribed bool    // some host has more ranks than cores: times are noisy
	warnings       []string
	hosts          []int // of all ranks, on rank 0
	decisions      map[decisionKey]*decision
	classes        []int // of the ranks as roots; nil: one
	classified     bool  // classes are known

	// What plans follow.
	groups    grouping             // of the network
	others    []grouping           // of Settings.Topologies and stored choices
	catalogue []schedule.Algorithm // with each of their settings
	choices   []schedule.Algorithm // the first ones, which are searched; the others are there for stored choices
	searched  []part               // of the choices: those along the same groups
	watch     *tuner.Stopwatch     // made when first needed

	// What rank 0 knows alone.
	network   *model.Network     // of the ranks; nil: none
	evaluator *predict.Evaluator // made when first needed
	job       table.Job
	stored    *table.Table
}

// New is collective: it returns a broadcaster over the communicator, which goes on to be usable for anything else.
//
// Rank 0 decides. It collects where the ranks run (mpi.GatherPlaces), and takes the view of its network
// (model.Network.ViewTypical). Ranks that were not measured get its typical parameters, and Broadcaster.Warnings says so. A network that does not say where its ranks ran has to
// be one of as many ranks. An error of rank 0 is returned on all ranks.
//
// If the network has a table with choices for this very job, the broadcaster starts with them, see Bcast. That is a job of
// as many ranks, on the same hosts and cores in the same order, under the same library with the same settings.
//
// Where the communicator has a native broadcast and can be split (mpi.NativeBcast, mpi.Splitter), New makes a
// communicator of each group of the ranks' hierarchy. Plans may leave the last part of the path to native broadcasts in
// these (schedule.NativeGroups). Close frees them.
//
// Along binomial trees it takes 2 messages per rank for the places and 2 to 6 for what rank 0 tells: about five bytes per
// rank of the job and level of its groups.
func New(comm mpi.Communicator, s *Settings) (*Broadcaster, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("bcast: new: %w", err)
	}
	exec := newExecutor(comm, mpi.MaxTag)
	h, err := shakeHands(newControl(exec), s, places)
	if err != nil {
		return nil, err
	}
	hosts, _ := mpi.NumberHosts(places)
	budget := h.Budget.Seconds()
	if budget == 0 {
		budget = math.Inf(1)
	}
	b := &Broadcaster{
		comm: comm, ranks: comm.Size(), exec: exec,
		modelOnly: h.ModelOnly, budget: budget, oversubscribed: h.Oversubscribed, warnings: h.Warnings,
		hosts: hosts, decisions: make(map[decisionKey]*decision),
		network: h.view, groups: h.Groupings[0], others: h.Groupings[1:], job: h.job, stored: h.stored,
	}
	b.native, _ = comm.(mpi.NativeBcast)
	algorithms := schedule.Algorithms()
	if h.Algorithms != nil {
		algorithms = s.Algorithms
	} else {
		algorithms = append(algorithms, schedule.NativeGroups{})
	}
	// Communicators are made last: nothing that fails afterwards leaves them behind.
	if b.timed() && slices.ContainsFunc(algorithms, usesNative) {
		if exec.groups, err = newGroups(exec, b.groups.tree); err != nil {
			return nil, err
		}
	}
	if exec.groups == nil {
		algorithms = withoutNative(algorithms)
	}
	b.arrange(algorithms, h.Groupings)
	if h.Tag != 0 {
		exec.tag = h.Tag
	}
	b.takeTuned(h.Tuned)
	return b, nil
}

// Network returns, on rank 0, the network of the ranks in their order: the part of Settings.Network that is theirs. It is
// nil if New got none, and on the other ranks, which need none.
func (b *Broadcaster) Network() *model.Network { return b.network }

// Warnings says why it is doubtful that the network, or its table of tuned choices, is that of the ranks, and which
// abilities the communicator hides; the same on all of them, none if all is well. The slice is the broadcaster's own.
func (b *Broadcaster) Warnings() []string { return b.warnings }

var errClosed = errors.New("the broadcaster is closed")

// Close is collective: it frees the communicators of groups that New may have made. The broadcaster cannot be used
// any more; the communicator can. Without it they stay until the end of the job. After an error of
// a broadcast they stay, too, as ranks may be gone. While one is under way Close is refused.
func (b *Broadcaster) Close() error {
	switch b.exec.failure {
	case errUnderWay:
		return b.exec.usable()
	case nil:
		_ = b.failed(errClosed)
		return b.exec.groups.close()
	}
	return nil
}
