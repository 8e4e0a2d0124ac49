package bcast

import (
	"errors"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A Broadcaster has topology-aware broadcasts over a communicator. Like the communicator it belongs to one goroutine.
type Broadcaster struct {
	// What a warm Bcast looks at.
	compiled [decisions.MaxClass + 1][]*compiledPlan // by class of sizes and root; nil: not decided yet
	exec     *executor
	loaded   loading // what the executor has the program of
	calls    decisions.Calls

	comm      mpi.Communicator
	ranks     int
	native    mpi.NativeBcast // nil: none
	decisions *decisions.Decisions
}

// New is collective: it returns a broadcaster over the communicator, which goes on to be usable for anything else.
//
// Rank 0 decides. It gathers where the ranks run (mpi.GatherPlaces), and takes the view of its network
// (model.Network.OfJob). Ranks that were not measured get its typical parameters, and Broadcaster.Warnings says so. A
// network that does not say where its ranks ran has to be one of as many ranks. An error of rank 0 is returned on all ranks.
//
// If the network has a table with choices for this very job, the broadcaster starts with them: see Bcast. Such a job has
// as many ranks, on the same hosts and cores in the same order, under the same library with the same settings.
//
// Where the communicator has a native broadcast and can be split (mpi.NativeBcast, mpi.Splitter), New makes a
// communicator of each group of the ranks' hierarchy. Plans may leave the last part of the path to native broadcasts in
// these (schedule.NativeGroups). Close frees them.
//
// Along binomial trees it takes 2 messages per rank for the places, and 2 to 6 for what rank 0 distributes: about five
// bytes per rank of the job and level of its groups.
func New(comm mpi.Communicator, s *Settings) (*Broadcaster, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("bcast: new: %w", err)
	}
	b := &Broadcaster{comm: comm, ranks: comm.Size(), exec: newExecutor(comm, mpi.MaxTag)}
	b.native, _ = comm.(mpi.NativeBcast)
	base := decisions.New("bcast", comm, places, mpi.MaxTag)
	algorithms, err := b.shakeHands(base, s)
	if err != nil {
		return nil, err
	}
	b.exec.tag = base.Tag
	timed := b.native != nil && !base.ModelOnly
	// Communicators are made last: nothing that fails afterwards leaves them behind.
	if timed && slices.ContainsFunc(algorithms, usesNative) {
		if b.exec.groups, err = b.newGroups(base); err != nil {
			return nil, err
		}
	}
	if b.exec.groups == nil {
		algorithms = slices.DeleteFunc(algorithms, usesNative)
	}
	b.decisions = base.Decisions("", algorithms, timed)
	return b, nil
}

// Network returns, on rank 0, the network of the ranks in their order: the part of Settings.Network that is theirs. It is
// nil if New got none, and on the other ranks, which need none.
func (b *Broadcaster) Network() *model.Network { return b.decisions.Network }

// Warnings says why it is doubtful that the network, or its table of tuned choices, is that of the ranks, and which
// abilities the communicator hides; the same on all of them, none if all is well. The slice belongs to the broadcaster.
func (b *Broadcaster) Warnings() []string { return b.decisions.Warnings }

var errClosed = errors.New("the broadcaster is closed")

// Close is collective: it frees the communicators of groups that New may have made. The broadcaster cannot be used
// any more; the communicator can. Without it they stay until the end of the job. After an error of
// a broadcast they stay, too, as ranks may be gone. While one is under way Close is refused. Close sends no message, and
// waits for other ranks only if closing the communicators does (MPI_Comm_free, which does not in Open MPI and MPICH).
func (b *Broadcaster) Close() error {
	switch b.exec.failure {
	case errUnderWay:
		return b.exec.usable()
	case nil:
		_ = b.exec.note(errClosed)
		return b.exec.groups.close()
	}
	return nil
}
