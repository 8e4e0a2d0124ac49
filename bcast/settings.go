package bcast

import (
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/model"
)

// Settings of a Broadcaster. Those of rank 0 apply; other ranks may pass nil.
type Settings struct {
	// Network of the hosts on which the ranks run, such as topocast discover writes it. It may be of other ranks, or
	// of these in another order: New compares where they run and takes the View. nil: nothing is known of the ranks,
	// which are then taken to be alike.
	Network *model.Network

	// ModelOnly takes the plan that the network predicts to be fastest, and never native. Otherwise, where the
	// communicator has a native broadcast (mpi.NativeBcast), that is used unless one of the best plans has beaten it
	// in a duel (bcast/tuner). Duels are in Tune and in the first broadcast of each class of sizes and roots. Plans are timed all
	// the same where Broadcaster.Warnings says that the network may not be that of the ranks.
	ModelOnly bool

	// Algorithms that come into question, besides native. They cannot travel: if rank 0 passes some, the other ranks
	// pass the same. nil: schedule.Algorithms and schedule.NativeGroups.
	Algorithms []schedule.Algorithm

	// Topologies are groups of the ranks, such as other methods find, along each of which plans are compared.
	// The one with the name table.Found is that of the network and needs no levels. A table of tuned choices
	// holds the groups that its choices follow, so the next job need not know them. schedule.NativeGroups follows the
	// groups of the network alone. nil: these.
	Topologies []table.Topology

	// Budget bounds the time of all duels of one call of Tune, and of the one in a first Bcast. Nothing begins that
	// would not end by then, and what is not decided stays native. 0: no bound, which is for each class some 50 to 100
	// broadcasts, and up to a second more where a duel stays in doubt.
	Budget time.Duration

	// Tag of all messages, which the application must not use on this communicator, in [0, mpi.MaxTag].
	// 0: mpi.MaxTag. New itself uses mpi.MaxTag.
	Tag int
}

func (s *Settings) validate() error {
	for i, t := range s.Topologies {
		if !table.IsTopologyName(t.Name) || slices.ContainsFunc(s.Topologies[:i], func(o table.Topology) bool { return o.Name == t.Name }) {
			return fmt.Errorf("settings: topology %d: name %q: want 1 to 64 bytes of plain text without commas and brackets, each once", i, t.Name)
		}
	}
	return nil
}
