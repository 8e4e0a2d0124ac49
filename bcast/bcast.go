package bcast

import (
	"fmt"
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
	routes    [maxClass + 1][]*route // by class of sizes and root; nil: not decided yet
	exec      *executor
	ops       []schedule.Op // of laid
	laid      *route
	laidBytes int

	comm       mpi.Communicator
	ranks      int
	native     mpi.NativeBcast // nil: none
	modelOnly  bool
	budget     float64 // s; 0: none
	crowded    bool    // ranks share cores on some host: times are noisy
	warnings   []string
	known      *knowledge
	groupings  []grouping           // the first is that which was found
	catalogue  []schedule.Algorithm // along each of them
	evaluator  *predict.Evaluator   // made when first needed
	watch      *tuner.Stopwatch     // made when first needed
	hosts      []int                // of all ranks, on rank 0
	classes    []int                // of the ranks as roots; nil: one
	classified bool                 // classes are known
	cells      map[cellKey]*cell

	// What rank 0 knows of the job, for the table.
	job    table.Job
	stored *table.Table
}

// New is collective: it returns a broadcaster over the communicator, which
// goes on to be usable for anything else.
//
// It collects on rank 0 where the ranks run (mpi.GatherPlaces) and takes the View of the network.
// Ranks on hosts that the network does not know, and ranks beyond those that
// were measured on a host, get its typical parameters (model.Network.ViewTypical),
// and Broadcaster.Warnings says so. A network that does not say where its ranks
// ran has to be one of as many ranks.
//
// If the network has a table with choices for this very job - as many ranks, on the same hosts and
// cores in the same order, under the same library - the broadcaster starts tuned.
//
// Where the communicator has a broadcast of its own and can be split (mpi.NativeBcast, mpi.Splitter), New makes a
// communicator of each group of the ranks' hierarchy, in which plans may leave the last part of the way to the
// library (schedule.NativeGroups). Close frees them.
//
// Along binomial trees it takes 2 messages per rank for the places and 2 to 10 to
// tell what rank 0 makes of them. The network itself only travels where a rank
// does not have it, and the places, in some 10 bytes per rank, only where it is one
// of other ranks.
func New(comm mpi.Communicator, s *Settings) (*Broadcaster, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("bcast: new: %w", err)
	}
	crew := newCrew(newExecutor(comm, mpi.MaxTag), 0)
	t, view, err := shareTerms(crew, s, places)
	if err != nil {
		return nil, err
	}
	var own *model.Network
	algorithms := schedule.Algorithms()
	if s != nil {
		own = s.Network
		if t.Algorithms != nil {
			algorithms = s.Algorithms
		}
	}
	known, err := shareNetwork(crew, t, own, view, locations(places))
	if err != nil {
		return nil, err
	}
	if known.costs, err = costsOf(t.Costs); err != nil {
		return nil, err
	}
	groupings, err := groupingsOf(t, known, comm.Size())
	if err != nil {
		return nil, err
	}
	b := &Broadcaster{
		groupings: groupings, comm: comm, ranks: comm.Size(), exec: crew.exec, known: known,
		modelOnly: t.ModelOnly && !t.Doubtful, warnings: t.Warnings,
		budget: t.Budget.Seconds(), crowded: t.Crowded,
		hosts: numbered(places), cells: make(map[cellKey]*cell),
	}
	b.native, _ = comm.(mpi.NativeBcast)
	if t.Algorithms == nil {
		algorithms = append(algorithms, schedule.NativeGroups{})
	}
	// Communicators are made last: nothing that fails afterwards leaves them behind.
	if b.timed() && slices.ContainsFunc(algorithms, usesNative) {
		if b.exec.groups, err = newGroups(crew, known.tree); err != nil {
			return nil, err
		}
	}
	if b.exec.groups == nil {
		algorithms = withoutNative(algorithms)
	}
	b.arrange(algorithms)
	if t.Tag != 0 {
		b.exec.tag = t.Tag
	}
	b.job, b.stored = t.job, t.stored
	b.takeTuned(t.Tuned)
	return b, nil
}

// Network returns the network of the ranks, in their order: the part of rank 0's Settings.Network that is theirs, the same
// on every rank. It is nil if New got none, and where none of its hosts are those of the ranks.
func (b *Broadcaster) Network() (*model.Network, error) { return b.known.view() }

// numbered are the hosts of places as numbers.
func numbered(places []mpi.Place) []int {
	number := make(map[string]int)
	hosts := make([]int, len(places))
	for i, p := range places {
		if _, known := number[p.Host]; !known {
			number[p.Host] = len(number)
		}
		hosts[i] = number[p.Host]
	}
	return hosts
}

// Warnings says why it is doubtful that the network, or its table of tuned choices, is that of
// the ranks; the same on all of them, none if all is well. The slice is the broadcaster's own.
func (b *Broadcaster) Warnings() []string { return b.warnings }

// Plan tells how a message of the given bytes is broadcast from the root. If
// there was none of its class of sizes yet, it is the plan that is predicted to
// be fastest, from which timing may still depart. It is not collective.
func (b *Broadcaster) Plan(bytes, root int) (predict.Plan, error) {
	switch {
	case uint(root) >= uint(b.ranks):
		return predict.Plan{}, fmt.Errorf("bcast: plan: root %d: %w: want in [0, %d)", root, mpi.ErrRank, b.ranks)
	case bytes < 0:
		return predict.Plan{}, fmt.Errorf("bcast: plan: %d bytes: want at least 0", bytes)
	}
	if bytes > 0 {
		if c := b.cells[b.key(bytes, root)]; c != nil {
			return c.Plan, nil
		}
	}
	plans, err := b.candidates(bytes, root)
	if err != nil {
		return predict.Plan{}, err
	}
	return plans[0].Plan, nil
}
