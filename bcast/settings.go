package bcast

import (
	"fmt"
	"time"

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
	// one (mpi.NativeBcast), the first broadcast of each class of sizes times
	// the best plans against it and keeps the fastest. It is timed all the same
	// where it is doubtful that the network is that of the ranks: where there are
	// Broadcaster.Warnings.
	ModelOnly bool

	// Budget is about how long the plans of one class of sizes are timed; each
	// is run once in any case. 0: 100 ms.
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
