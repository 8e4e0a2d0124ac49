package bcast

import (
	"fmt"
	"time"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Settings are what New is told beyond a communicator. Those of rank 0 count;
// other ranks may pass nil.
type Settings struct {
	// Network of the hosts on which the ranks run, such as topocast discover
	// writes it. It may be of other ranks, or of these in another order: New
	// compares where they run and takes the View. Ranks that have no network, or
	// another one than rank 0, get a copy. nil: nothing is known of the ranks,
	// which are then taken to be alike.
	Network *model.Network

	// ModelOnly takes the plan that the network predicts to be fastest, and
	// never the library's own broadcast. Otherwise, where the communicator has
	// one (mpi.NativeBcast), that is used unless one of the best plans has beaten it
	// in a contest (bcast/tuner), in Tune or in the first broadcast of each class of sizes and
	// roots. Plans are timed all the same where it is doubtful that the network is that of the
	// ranks, of which Broadcaster.Warnings tell.
	ModelOnly bool

	// Algorithms that come into question, besides the library's own broadcast.
	// They cannot travel: ranks other than 0 pass the same ones, if rank 0 does.
	// nil: schedule.Algorithms.
	Algorithms []schedule.Algorithm

	// Topologies are the ways to see the ranks in groups along which plans are made: plans of all of them are compared, and
	// predict.Plan.Topology says which one a plan follows. A table of tuned choices holds the groups that its choices follow, so the
	// next job needs none of this to make the same plans. Plans that end in the library's broadcast in groups
	// (schedule.NativeGroups) follow found alone. nil: found.
	Topologies []Topology

	// Budget is how long all contests of one call of Tune may take together,
	// and the one in a first Bcast. Nothing is begun that would not end by then, and
	// what is not decided is left to the library's own broadcast. 0: as long as it takes, which is for
	// each class some 50 to 100 broadcasts, and up to a second more where it stays in doubt whether the best plan beats the
	// library's own.
	Budget time.Duration

	// Tag of all messages, which the application must not use for its own on
	// this communicator, in [0, mpi.MaxTag]. 0: mpi.MaxTag. New itself, by which
	// ranks get to know it, uses mpi.MaxTag.
	Tag int
}

func (s *Settings) validate() error {
	if s.Tag < 0 || s.Tag > mpi.MaxTag {
		return fmt.Errorf("bcast: settings: tag %d: %w: want in [0, %d]", s.Tag, mpi.ErrTag, mpi.MaxTag)
	}
	if s.Budget < 0 {
		return fmt.Errorf("bcast: settings: budget %v: want at least 0", s.Budget)
	}
	return nil
}
